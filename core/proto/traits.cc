#include "core/proto/traits.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/stubs/logging.h"

namespace openset {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// The options of a field that has any, or the field of a message, which may have traits itself.
struct FieldTraits {
  const FieldDescriptor* field;
  const Traits* if_set;
  const Traits* unless_set;
  const FieldDescriptor* number;  // of Traits; or null
  bool of_value;                  // the values of an enum have traits
};

std::vector<FieldTraits> ReadFields(const Descriptor& type) {
  std::vector<FieldTraits> fields;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    const auto& options = field->options();
    FieldTraits found = {field, nullptr, nullptr, nullptr, false};
    if (options.HasExtension(traits_if_set)) found.if_set = &options.GetExtension(traits_if_set);
    if (options.HasExtension(traits_unless_set)) found.unless_set = &options.GetExtension(traits_unless_set);
    if (options.HasExtension(trait)) {
      found.number = Traits::descriptor()->FindFieldByName(options.GetExtension(trait));
      // Not by core/logging.h: //tools/python/library is without glog, whose libunwind can't pass exceptions on.
      GOOGLE_CHECK(found.number != nullptr) << field->full_name() << " names no field of Traits";
    }
    for (int v = 0; field->enum_type() != nullptr && v < field->enum_type()->value_count(); ++v) {
      found.of_value |= field->enum_type()->value(v)->options().HasExtension(traits_of_value);
    }
    if (found.if_set || found.unless_set || found.number || found.of_value || field->message_type() != nullptr) {
      fields.push_back(found);
    }
  }
  return fields;
}

// Reads the options of a type once: plans ask for the traits of 100,000 trials.
const std::vector<FieldTraits>& FieldsOf(const Descriptor* type) {
  static auto* const mutex = new std::mutex;
  static auto* const types = new std::unordered_map<const Descriptor*, std::unique_ptr<std::vector<FieldTraits>>>;
  const std::lock_guard<std::mutex> lock(*mutex);
  std::unique_ptr<std::vector<FieldTraits>>& fields = (*types)[type];
  if (fields == nullptr) fields = std::make_unique<std::vector<FieldTraits>>(ReadFields(*type));
  return *fields;
}

void Add(const Traits& more, Traits* traits) {
  static const auto* const numbers = [] {
    auto* found = new std::vector<const FieldDescriptor*>;
    for (int i = 0; i < Traits::descriptor()->field_count(); ++i) {
      const FieldDescriptor* field = Traits::descriptor()->field(i);
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) found->push_back(field);
    }
    return found;
  }();
  const Reflection& reflection = *Traits::GetReflection();
  const Traits before = *traits;
  traits->MergeFrom(more);
  for (const FieldDescriptor* field : *numbers) {
    if (reflection.HasField(before, field) && reflection.GetInt32(before, field) > reflection.GetInt32(more, field)) {
      reflection.SetInt32(traits, field, reflection.GetInt32(before, field));
    }
  }
  if (before.more_images() > more.more_images()) traits->set_more_images(before.more_images());
}

// Whether a field that is not repeated counts as set, for traits_if_set and traits_unless_set.
bool IsOn(const Message& message, const FieldDescriptor* field) {
  const Reflection& reflection = *message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return field->has_default_value() ? reflection.GetDouble(message, field) != 0
                                        : reflection.HasField(message, field);
    case FieldDescriptor::CPPTYPE_INT32:
      return field->has_default_value() ? reflection.GetInt32(message, field) != 0
                                        : reflection.HasField(message, field);
    default:
      return reflection.HasField(message, field);
  }
}

void AddTraits(const Message& message, Traits* traits) {
  const Descriptor* type = message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  if (type->options().HasExtension(openset::traits)) Add(type->options().GetExtension(openset::traits), traits);
  for (const FieldTraits& of : FieldsOf(type)) {
    const FieldDescriptor* field = of.field;
    if (field->is_repeated()) {
      const int size = reflection.FieldSize(message, field);
      if (size > 0 && of.if_set != nullptr) Add(*of.if_set, traits);
      for (int element = 0; field->message_type() != nullptr && element < size; ++element) {
        AddTraits(reflection.GetRepeatedMessage(message, field, element), traits);
      }
      continue;
    }
    const bool is_set = reflection.HasField(message, field);
    if (of.if_set != nullptr && IsOn(message, field)) Add(*of.if_set, traits);
    if (of.unless_set != nullptr && !IsOn(message, field)) Add(*of.unless_set, traits);
    if (of.number != nullptr) {
      Traits more;
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
        Traits::GetReflection()->SetDouble(&more, of.number, reflection.GetDouble(message, field));
      } else {
        Traits::GetReflection()->SetInt32(&more, of.number, reflection.GetInt32(message, field));
      }
      Add(more, traits);
    }
    // An enum in a oneof has no value unless it is set.
    if (of.of_value && (is_set || field->containing_oneof() == nullptr)) {
      Add(reflection.GetEnum(message, field)->options().GetExtension(traits_of_value), traits);
    }
    if (field->message_type() != nullptr && is_set) AddTraits(reflection.GetMessage(message, field), traits);
  }
}

}  // namespace

Traits TraitsOf(const Message& message) {
  Traits traits;
  AddTraits(message, &traits);
  return traits;
}

}  // namespace openset

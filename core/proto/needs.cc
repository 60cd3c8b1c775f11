#include "core/proto/needs.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
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

// The options of a field that has any, or the field of a message, which may have needs itself.
struct FieldNeeds {
  const FieldDescriptor* field;
  const Needs* if_set;
  const Needs* unless_set;
  const FieldDescriptor* as_many;  // of Needs; or null
  bool of_value;                   // the values of an enum have needs
};

std::vector<FieldNeeds> ReadFields(const Descriptor& type) {
  std::vector<FieldNeeds> fields;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    const auto& options = field->options();
    FieldNeeds needs = {field, nullptr, nullptr, nullptr, false};
    if (options.HasExtension(needs_if_set)) needs.if_set = &options.GetExtension(needs_if_set);
    if (options.HasExtension(needs_unless_set)) needs.unless_set = &options.GetExtension(needs_unless_set);
    if (options.HasExtension(needs_as_many)) {
      needs.as_many = Needs::descriptor()->FindFieldByName(options.GetExtension(needs_as_many));
      // Not by core/logging.h: //tools/python/library is without glog, whose libunwind can't pass exceptions on.
      GOOGLE_CHECK(needs.as_many != nullptr) << field->full_name() << " needs what Needs doesn't have";
    }
    for (int v = 0; field->enum_type() != nullptr && v < field->enum_type()->value_count(); ++v) {
      needs.of_value |= field->enum_type()->value(v)->options().HasExtension(needs_of_value);
    }
    if (needs.if_set || needs.unless_set || needs.as_many || needs.of_value || field->message_type() != nullptr) {
      fields.push_back(needs);
    }
  }
  return fields;
}

// Reads the options of a type once: plans ask for the needs of 100,000 trials.
const std::vector<FieldNeeds>& FieldsOf(const Descriptor* type) {
  static auto* const mutex = new std::mutex;
  static auto* const types = new std::unordered_map<const Descriptor*, std::unique_ptr<std::vector<FieldNeeds>>>;
  const std::lock_guard<std::mutex> lock(*mutex);
  std::unique_ptr<std::vector<FieldNeeds>>& fields = (*types)[type];
  if (fields == nullptr) fields = std::make_unique<std::vector<FieldNeeds>>(ReadFields(*type));
  return *fields;
}

void Add(const Needs& more, Needs* needs) {
  const int extra_views = std::max(needs->extra_views(), more.extra_views());
  needs->MergeFrom(more);
  if (extra_views > 0) needs->set_extra_views(extra_views);
}

void AddNeeds(const Message& message, Needs* needs) {
  const Descriptor* type = message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  if (type->options().HasExtension(openset::needs)) Add(type->options().GetExtension(openset::needs), needs);
  for (const FieldNeeds& of : FieldsOf(type)) {
    const FieldDescriptor* field = of.field;
    if (field->is_repeated()) {
      const int size = reflection.FieldSize(message, field);
      if (size > 0 && of.if_set != nullptr) Add(*of.if_set, needs);
      for (int element = 0; field->message_type() != nullptr && element < size; ++element) {
        AddNeeds(reflection.GetRepeatedMessage(message, field, element), needs);
      }
      continue;
    }
    const bool is_set = reflection.HasField(message, field);
    const bool is_on = field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL ? reflection.GetBool(message, field) : is_set;
    if (is_on && of.if_set != nullptr) Add(*of.if_set, needs);
    if (!is_set && of.unless_set != nullptr) Add(*of.unless_set, needs);
    if (of.as_many != nullptr) {
      Needs more;
      more.GetReflection()->SetInt32(&more, of.as_many, reflection.GetInt32(message, field));
      Add(more, needs);
    }
    // An enum in a oneof has no value unless it is set.
    if (of.of_value && (is_set || field->containing_oneof() == nullptr)) {
      Add(reflection.GetEnum(message, field)->options().GetExtension(needs_of_value), needs);
    }
    if (field->message_type() != nullptr && is_set) AddNeeds(reflection.GetMessage(message, field), needs);
  }
}

}  // namespace

Needs NeedsOf(const Message& message) {
  Needs needs;
  AddNeeds(message, &needs);
  return needs;
}

}  // namespace openset

#include "core/proto/traits.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/stubs/logging.h"

namespace openset {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::OneofDescriptor;
using ::google::protobuf::Reflection;

// The options of a field that has any, or the field of a message, which may have traits itself.
struct FieldTraits {
  const FieldDescriptor* field;
  const Traits* if_set;
  const Traits* unless_set;
  const FieldDescriptor* number;  // of Traits; or null
  bool of_value;                  // the values of an enum have traits
};

// What the options of a message say, and of its fields those that can add something.
struct TypeTraits {
  const Traits* own = nullptr;
  std::vector<FieldTraits> fields;  // that are in no oneof
  struct Oneof {
    const OneofDescriptor* oneof;
    std::vector<FieldTraits> members;  // all, by their index
  };
  std::vector<Oneof> oneofs;
};

bool SaysSomething(const FieldTraits& field) {
  return field.if_set != nullptr || field.unless_set != nullptr || field.number != nullptr || field.of_value;
}

FieldTraits ReadField(const FieldDescriptor* field) {
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
  return found;
}

// Whether a message, or one that it may contain, has a trait. `seen`: those that are looked at already.
bool MayHaveTraits(const Descriptor* type, std::set<const Descriptor*>* seen) {
  if (!seen->insert(type).second) return false;
  if (type->options().HasExtension(traits)) return true;
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    if (SaysSomething(ReadField(field))) return true;
    if (field->message_type() != nullptr && MayHaveTraits(field->message_type(), seen)) return true;
  }
  return false;
}

// Whether the field or the messages in it have a trait.
bool Matters(const FieldTraits& field) {
  std::set<const Descriptor*> seen;
  const Descriptor* part = field.field->message_type();
  return SaysSomething(field) || (part != nullptr && MayHaveTraits(part, &seen));
}

TypeTraits ReadType(const Descriptor* type) {
  TypeTraits found;
  if (type->options().HasExtension(traits)) found.own = &type->options().GetExtension(traits);
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldTraits field = ReadField(type->field(i));
    if (field.field->containing_oneof() == nullptr && Matters(field)) found.fields.push_back(field);
  }
  for (int o = 0; o < type->oneof_decl_count(); ++o) {
    TypeTraits::Oneof oneof = {type->oneof_decl(o), {}};
    bool matters = false;
    for (int i = 0; i < oneof.oneof->field_count(); ++i) {
      oneof.members.push_back(ReadField(oneof.oneof->field(i)));
      matters = matters || Matters(oneof.members.back());
    }
    if (matters) found.oneofs.push_back(std::move(oneof));
  }
  return found;
}

// Reads the options of a type once: plans ask for the traits of 100,000 trials.
const TypeTraits& TypeTraitsOf(const Descriptor* type) {
  static auto* const mutex = new std::mutex;
  static auto* const types = new std::unordered_map<const Descriptor*, std::unique_ptr<TypeTraits>>;
  const std::lock_guard<std::mutex> lock(*mutex);
  std::unique_ptr<TypeTraits>& found = (*types)[type];
  if (found == nullptr) found = std::make_unique<TypeTraits>(ReadType(type));
  return *found;
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
  std::vector<std::pair<const FieldDescriptor*, int32_t>> larger;  // of `traits` than of `more`
  for (const FieldDescriptor* field : *numbers) {
    if (!reflection.HasField(more, field) || !reflection.HasField(*traits, field)) continue;
    const int32_t number = reflection.GetInt32(*traits, field);
    if (number > reflection.GetInt32(more, field)) larger.emplace_back(field, number);
  }
  const double more_images = traits->more_images();
  traits->MergeFrom(more);
  for (const auto& [field, number] : larger) reflection.SetInt32(traits, field, number);
  if (more_images > more.more_images()) traits->set_more_images(more_images);
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

void AddTraits(const Message& message, Traits* traits);

// Of a field that is not repeated; of one in a oneof, if it is set.
void AddField(const Message& message, const FieldTraits& of, Traits* traits) {
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor* field = of.field;
  if (of.if_set != nullptr || of.unless_set != nullptr) {
    const Traits* said = IsOn(message, field) ? of.if_set : of.unless_set;
    if (said != nullptr) Add(*said, traits);
  }
  if (of.number != nullptr) {
    Traits more;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      Traits::GetReflection()->SetDouble(&more, of.number, reflection.GetDouble(message, field));
    } else {
      Traits::GetReflection()->SetInt32(&more, of.number, reflection.GetInt32(message, field));
    }
    Add(more, traits);
  }
  if (of.of_value) Add(reflection.GetEnum(message, field)->options().GetExtension(traits_of_value), traits);
  if (field->message_type() != nullptr && reflection.HasField(message, field)) {
    AddTraits(reflection.GetMessage(message, field), traits);
  }
}

void AddTraits(const Message& message, Traits* traits) {
  const TypeTraits& type = TypeTraitsOf(message.GetDescriptor());
  const Reflection& reflection = *message.GetReflection();
  if (type.own != nullptr) Add(*type.own, traits);
  for (const FieldTraits& of : type.fields) {
    if (!of.field->is_repeated()) {
      AddField(message, of, traits);
      continue;
    }
    const int size = reflection.FieldSize(message, of.field);
    if (size > 0 && of.if_set != nullptr) Add(*of.if_set, traits);
    for (int element = 0; of.field->message_type() != nullptr && element < size; ++element) {
      AddTraits(reflection.GetRepeatedMessage(message, of.field, element), traits);
    }
  }
  // Only the member that is set: plans ask for the traits of each trial's score, which is one of many.
  for (const TypeTraits::Oneof& of : type.oneofs) {
    const FieldDescriptor* member = reflection.GetOneofFieldDescriptor(message, of.oneof);
    if (member != nullptr) AddField(message, of.members[member->index_in_oneof()], traits);
  }
}

}  // namespace

Traits TraitsOf(const Message& message) {
  Traits traits;
  AddTraits(message, &traits);
  return traits;
}

}  // namespace openset

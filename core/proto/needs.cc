#include "core/proto/needs.h"

#include <algorithm>
#include <string>

#include "core/logging.h"
#include "google/protobuf/descriptor.h"

namespace openset {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

void Add(const Needs& more, Needs* needs) {
  const int extra_views = std::max(needs->extra_views(), more.extra_views());
  needs->MergeFrom(more);
  if (extra_views > 0) needs->set_extra_views(extra_views);
}

void AddNeeds(const Message& message, Needs* needs) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  Add(type.options().GetExtension(openset::needs), needs);
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (field->is_repeated()) {
      const int size = reflection.FieldSize(message, field);
      if (size > 0) Add(field->options().GetExtension(needs_if_set), needs);
      for (int element = 0; field->message_type() != nullptr && element < size; ++element) {
        AddNeeds(reflection.GetRepeatedMessage(message, field, element), needs);
      }
      continue;
    }
    const bool is_set = reflection.HasField(message, field);
    const bool is_on = field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL ? reflection.GetBool(message, field) : is_set;
    if (is_on) Add(field->options().GetExtension(needs_if_set), needs);
    if (!is_set) Add(field->options().GetExtension(needs_unless_set), needs);
    if (field->options().HasExtension(needs_as_many)) {
      const std::string name = field->options().GetExtension(needs_as_many);
      const FieldDescriptor* need = Needs::descriptor()->FindFieldByName(name);
      CHECK(need != nullptr) << field->full_name() << " needs what Needs doesn't have: " << name;
      Needs more;
      more.GetReflection()->SetInt32(&more, need, reflection.GetInt32(message, field));
      Add(more, needs);
    }
    // An enum in a oneof has no value unless it is set.
    if (field->enum_type() != nullptr && (is_set || field->containing_oneof() == nullptr)) {
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

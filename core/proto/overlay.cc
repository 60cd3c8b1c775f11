#include "core/proto/overlay.h"

#include <vector>

namespace openset {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

namespace {

// Removes from `base` each repeated field that `top` has elements of, in all messages both have.
void ClearReplaced(const Message& top, Message* base) {
  std::vector<const FieldDescriptor*> fields;
  top.GetReflection()->ListFields(top, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->is_repeated()) {
      base->GetReflection()->ClearField(base, field);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && base->GetReflection()->HasField(*base, field)) {
      ClearReplaced(top.GetReflection()->GetMessage(top, field), base->GetReflection()->MutableMessage(base, field));
    }
  }
}

}  // namespace

void Overlay(const Message& top, Message* base) {
  ClearReplaced(top, base);
  base->MergeFrom(top);
}

}  // namespace openset

#include "core/proto/kind.h"

#include "core/proto/schema.pb.h"

namespace openset {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::OneofDescriptor;

bool MergesByKind(const FieldDescriptor& field) {
  return field.is_repeated() && field.options().GetExtension(rule).merge_by_kind();
}

const OneofDescriptor& KindsOf(const FieldDescriptor& list) { return *list.message_type()->oneof_decl(0); }

const FieldDescriptor* KindOf(const Message& message, const FieldDescriptor& list, int index) {
  const Message& element = message.GetReflection()->GetRepeatedMessage(message, &list, index);
  return element.GetReflection()->GetOneofFieldDescriptor(element, &KindsOf(list));
}

int FindKind(const Message& message, const FieldDescriptor& list, const FieldDescriptor* kind, int ordinal) {
  const int size = message.GetReflection()->FieldSize(message, &list);
  for (int i = 0; i < size; ++i) {
    if (KindOf(message, list, i) == kind && ordinal-- == 0) return i;
  }
  return -1;
}

int OrdinalOf(const Message& message, const FieldDescriptor& list, int index) {
  int ordinal = 0;
  for (int i = 0; i < index; ++i) ordinal += KindOf(message, list, i) == KindOf(message, list, index);
  return ordinal;
}

}  // namespace openset

// Lists whose elements are identified by their kind, the member of their oneof that is set. The schema marks such a
// list with the rule `merge_by_kind` (core/proto/schema.proto). Its element type has one oneof.
#ifndef OPENSET_CORE_PROTO_KIND_H_
#define OPENSET_CORE_PROTO_KIND_H_

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace openset {

// Whether `field` is such a list.
bool MergesByKind(const google::protobuf::FieldDescriptor& field);

// The kinds an element of the list can have. Precondition of all below: MergesByKind(list).
const google::protobuf::OneofDescriptor& KindsOf(const google::protobuf::FieldDescriptor& list);

// The member that element `index` of message.list has set; null if it has none.
const google::protobuf::FieldDescriptor* KindOf(const google::protobuf::Message& message,
                                                const google::protobuf::FieldDescriptor& list, int index);

// The index of the `ordinal`-th element (from 0) of this kind; -1 if there are fewer.
int FindKind(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& list,
             const google::protobuf::FieldDescriptor* kind, int ordinal);

// The number of elements before `index` that have its kind.
int OrdinalOf(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& list, int index);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_KIND_H_

// Lists whose elements are told apart by their kind: the member of their oneof that is set. The schema marks such a
// list with the rule `merge_by_kind` (core/proto/schema.proto); its element type has one oneof.
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

// The index of the element that is number `ordinal` (from 0) among those of `kind`; -1 if there are not so many.
int FindKind(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& list,
             const google::protobuf::FieldDescriptor* kind, int ordinal);

// How many elements before `index` are of its kind.
int OrdinalOf(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& list, int index);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_KIND_H_

// Fields of a message by path, and lists whose elements are identified by their kind.
#ifndef OPENSET_CORE_PROTO_FIELD_PATH_H_
#define OPENSET_CORE_PROTO_FIELD_PATH_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace openset {

// Lists whose elements are identified by their kind, the member of their oneof that is set. The schema marks such a
// list with the rule `merge_by_kind` (core/proto/schema.proto). Its element type has one oneof.

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

// Fields of a message by path: "loss.term[0].lambda". An element of a list that is merged by kind
// can also be named by its kind, without the list's name: if the second term is the only
// open_auc, "loss.open_auc.pairs" is "loss.term[1].open_auc.pairs", and "loss.open_auc.lambda", the element's own
// field, is "loss.term[1].lambda".

// Sets the field at `path` to `value`, written as in a text proto ("0.1", "RED", "'text'", "{ rate: 1 }"; the quotes of
// a string and the braces of a message may be left out). Adds absent messages along the path. An element of a repeated
// field must exist; `path[]` appends one. Only the last step of a path may switch a oneof to another member. On error
// `message` is unchanged. Errors: kInvalidArgument, with the path, for an unknown field (with the known ones), an index
// out of range, a kind that no element or several elements have, a oneof that has another member, or a value of another
// type.
absl::Status SetField(absl::string_view path, absl::string_view value, google::protobuf::Message* message);

// The field at `path` as text; "" if it or a message along the path is absent. Errors: as SetField.
absl::StatusOr<std::string> GetField(const google::protobuf::Message& message, absl::string_view path);

// The path of the same field in `other`, a message of the same type: an index into a list that is merged by kind
// becomes the index of the n-th element of the same kind. With `message` itself, returns the path with kinds replaced
// by indices. Errors: as SetField; kNotFound if `other` has no such element.
absl::StatusOr<std::string> SamePlace(const google::protobuf::Message& message, absl::string_view path,
                                      const google::protobuf::Message& other);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_FIELD_PATH_H_

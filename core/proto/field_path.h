// Fields of a message by path: "loss.term[0].lambda". In a list that is merged by kind (core/proto/kind.h) an element
// also goes by its kind, without the list's name: "loss.open_auc.pairs" is "loss.term[1].open_auc.pairs" where the
// second term is the only open_auc, and "loss.open_auc.lambda", which is the element's own field,
// "loss.term[1].lambda".
#ifndef OPENSET_CORE_PROTO_FIELD_PATH_H_
#define OPENSET_CORE_PROTO_FIELD_PATH_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"

namespace openset {

// Sets the field at `path` to `value`, written as in a text proto ("0.1", "RED", "'text'", "{ rate: 1 }"; the quotes of
// a string and the braces of a message may be left out). Messages on the way are made where they are absent; an element
// of a repeated field must exist, and `path[]` appends one. A path never switches a oneof from one member to another on
// its way; its last step may. On error `message` is unchanged.
// Errors, all kInvalidArgument and with the path: an unknown field (with the known ones), an index out of range, a kind
// that no element has or several have, a oneof that holds another member, a value of another type.
absl::Status SetField(absl::string_view path, absl::string_view value, google::protobuf::Message* message);

// The field at `path` as text; "" where it or a message on the way is absent. Errors: as SetField.
absl::StatusOr<std::string> GetField(const google::protobuf::Message& message, absl::string_view path);

// The same place in `other`, of the same type: indices of lists that are merged by kind become those of the elements of
// the same kind (the n-th stays the n-th). With `message` itself, the path with kinds replaced by indices.
// Errors: as SetField; kNotFound if `other` has no such element.
absl::StatusOr<std::string> SamePlace(const google::protobuf::Message& message, absl::string_view path,
                                      const google::protobuf::Message& other);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_FIELD_PATH_H_

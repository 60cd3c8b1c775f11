// Defaults and limits of a message, as its schema states them (core/proto/schema.proto).
#ifndef OPENSET_CORE_PROTO_PROTO_RULES_H_
#define OPENSET_CORE_PROTO_PROTO_RULES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "google/protobuf/message.h"

namespace openset {

// Sets each unset singular scalar to its default in the schema, if it has one, in `message` and in all messages that
// are present below it. Skips members of a oneof; absent messages stay absent. Afterwards no default is implicit.
void FillDefaults(google::protobuf::Message* message);

// A value that violates the rules of its schema.
struct FieldProblem {
  std::string path;     // "training.epochs", "loss.term[0]"; empty for the whole message
  std::string message;  // "must be at least 1 (is 0)"
};

enum class Completeness {
  kComplete,
  kPartial,  // overrides another message: fields may be missing
};

// All problems of `message` and of the messages below it, in field order: missing required fields, values that are out
// of range or not finite, texts that are not UTF-8 or not keys, lists that are too long or have a wrong length, enums
// that are ..._UNSPECIFIED, oneofs without a member. Skips the fields of `message` with the numbers `without`.
// Precondition: the message's type is a generated class.
std::vector<FieldProblem> FindProblems(const google::protobuf::Message& message,
                                       Completeness completeness = Completeness::kComplete,
                                       absl::Span<const int> without = {});

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_PROTO_RULES_H_

// The fields in which two messages differ.
#ifndef OPENSET_CORE_PROTO_FIELD_DIFFERENCES_H_
#define OPENSET_CORE_PROTO_FIELD_DIFFERENCES_H_

#include <string>
#include <vector>

#include "google/protobuf/message.h"

namespace openset {

struct FieldDifference {
  std::string path;           // "training.epochs", "loss.term[1]"
  std::string before, after;  // as in a text proto, in one line; "" if it is absent
};

// The fields that differ between two messages of one type, in the order of the schema, without those that the schema
// marks as `label`. A message that only one of the two has is one difference.
std::vector<FieldDifference> FindDifferences(const google::protobuf::Message& before,
                                             const google::protobuf::Message& after);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_FIELD_DIFFERENCES_H_

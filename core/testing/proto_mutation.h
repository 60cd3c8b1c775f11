// Random changes to a message, field by field. They reach code that mutated bytes (core/testing/mutation.h) seldom
// reach, because most of those no longer parse.
#ifndef OPENSET_CORE_TESTING_PROTO_MUTATION_H_
#define OPENSET_CORE_TESTING_PROTO_MUTATION_H_

#include <cstddef>
#include <string>

#include "core/random.h"
#include "google/protobuf/message.h"

namespace openset {

// The limits of changes.
struct Extremes {
  size_t most_repeats = 1000;   // elements of a repeated field
  size_t most_text = 20000;     // bytes of the longest text
  size_t most_bytes = 2000000;  // of the message; repeated fields of larger messages get no more elements
  int most_depth = 150;         // of messages within messages of the same type; Protobuf reads 100
};

// Changes one to four fields of `message`, present or absent, at any depth. A number becomes the smallest or largest of
// its type, a small one, NaN or infinite. A text becomes empty, long, not UTF-8, a path that leaves its folder, shell
// or markup code, or control characters. An enum gets another value, which may not exist. A message is removed,
// cleared, or nested in messages of its type. Another member of a oneof is set. An element is removed, copied, or
// repeated most_repeats times. The same stream gives the same message.
void MutateMessage(const Extremes& extremes, RandomStream* random, google::protobuf::Message* message);

// Returns the wire format of a changed copy. One in four has another change: the bytes occur twice, so that the copies
// merge; a field that is not in the schema; a field with another wire type; or nested groups.
std::string MutatedWire(const google::protobuf::Message& message, const Extremes& extremes, RandomStream* random);

// Returns the text format of a changed copy, with one field on each line. One in four has lines removed, duplicated or
// moved.
std::string MutatedText(const google::protobuf::Message& message, const Extremes& extremes, RandomStream* random);

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_PROTO_MUTATION_H_

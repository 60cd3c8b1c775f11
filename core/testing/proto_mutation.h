// Random changes of a message, field by field: what mutated bytes (core/testing/mutation.h) seldom reach, as most of
// them no longer parse.
#ifndef OPENSET_CORE_TESTING_PROTO_MUTATION_H_
#define OPENSET_CORE_TESTING_PROTO_MUTATION_H_

#include <cstddef>
#include <string>

#include "core/random.h"
#include "google/protobuf/message.h"

namespace openset {

// What a field's value may become.
struct Extremes {
  size_t most_repeats = 1000;   // elements that a repeated field is filled up to
  size_t most_text = 20000;     // bytes of the longest text
  size_t most_bytes = 2000000;  // of the message: one that has become larger is not repeated any further
  int most_depth = 150;         // of messages within messages of the same type; Protobuf reads 100
};

// Changes one to four fields of `message`, at any depth, of those that are there and of those that are not. A number
// becomes its type's least, its largest, one of some small ones, NaN or infinite; a text becomes empty, long, not
// UTF-8, a path out of its folder, shell, markup or control characters; an enum another value, also one that it does
// not have; a message is removed, made empty, or nested in messages of its type; a member of a oneof gives way to
// another one; an element is removed, doubled, or repeated most_repeats times. The same stream gives the same message.
void MutateMessage(const Extremes& extremes, RandomStream* random, google::protobuf::Message* message);

// Returns the wire format of a changed copy. One in four has another change: the bytes occur twice, so that the copies
// merge; a field is not in the schema; a field has another wire type; or groups are nested in groups.
std::string MutatedWire(const google::protobuf::Message& message, const Extremes& extremes, RandomStream* random);

// The text format of a changed copy, a line each. One in four has lines removed, doubled or moved.
std::string MutatedText(const google::protobuf::Message& message, const Extremes& extremes, RandomStream* random);

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_PROTO_MUTATION_H_

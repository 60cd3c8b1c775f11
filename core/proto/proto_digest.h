// The content hash of a message: what decides a result, and nothing else.
#ifndef OPENSET_CORE_PROTO_PROTO_DIGEST_H_
#define OPENSET_CORE_PROTO_PROTO_DIGEST_H_

#include <string>

#include "google/protobuf/message.h"

namespace openset {

// SHA-256, in hexadecimal, over the full name of the message's type and, for it and each message below it, its schema's
// revision and its set fields in order of number, each with number and value. Fields marked `label` in the schema are
// left out; so are those marked `added` while they hold their default, and unknown fields. Messages that differ in any
// other field have different digests, and the digest depends neither on the order of fields in a file nor on the
// version of the Protobuf library. Doubles are hashed by their bits (-0 as 0).
std::string MessageDigest(const google::protobuf::Message& message);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_PROTO_DIGEST_H_

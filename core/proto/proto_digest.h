// The content hash of a message: covers everything that determines a result, and nothing else.
#ifndef OPENSET_CORE_PROTO_PROTO_DIGEST_H_
#define OPENSET_CORE_PROTO_PROTO_DIGEST_H_

#include <string>
#include <unordered_map>

#include "core/files/digest.h"
#include "google/protobuf/message.h"

namespace openset {

// SHA-256, in hexadecimal, over the full name of the message's type and, for it and each message below it, its schema's
// revision and its set fields in order of number, each with number and value. Fields marked `label` in the schema are
// left out; so are those marked `added` while they hold their default, unknown fields, and the paths of strings with a
// rule `path_after`. If a message has the option `digest_of_parts`, the digests of the messages in its fields stand for
// them. Messages that differ in any other field have different digests, and the digest depends neither on
// the order of fields in a file nor on the version of the Protobuf library. Doubles are hashed by their bits (-0 as 0).
std::string MessageDigest(const google::protobuf::Message& message);

// What digests cover of a string field's value.
std::string DigestedPart(const google::protobuf::FieldDescriptor& field, std::string text);

// What MessageDigest() hashes of a message, without its type's name.
std::string CanonicalBytes(const google::protobuf::Message& message);

// Computes the digests of many messages that share parts: a part (a message in a field of a message with the option
// `digest_of_parts`) is digested once for each address. Precondition: such parts live, unchanged, as long as
// this object.
class MessageDigester {
 public:
  // ToHex() of it is the message's MessageDigest().
  Sha256::Digest Of(const google::protobuf::Message& message);

 private:
  std::unordered_map<const google::protobuf::Message*, Sha256::Digest> parts_;
};

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_PROTO_DIGEST_H_

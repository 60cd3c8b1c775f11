// The content hash of a message: covers everything that determines a result, and nothing else.
#ifndef OPENSET_CORE_PROTO_PROTO_DIGEST_H_
#define OPENSET_CORE_PROTO_PROTO_DIGEST_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "core/files/digest.h"
#include "google/protobuf/message.h"

namespace openset {

// SHA-256, in hexadecimal, over the full name of the message's type and, for it and each message below it, its schema's
// revision and its set fields in order of number, each with number and value. Fields marked `label` in the schema are
// left out; so are those marked `added` while they hold their default, unknown fields, and the paths of strings with a
// rule `path_after`. Messages that differ in any other field have different digests, and the digest depends neither on
// the order of fields in a file nor on the version of the Protobuf library. Doubles are hashed by their bits (-0 as 0).
std::string MessageDigest(const google::protobuf::Message& message);

// What digests cover of a string field's value.
std::string DigestedPart(const google::protobuf::FieldDescriptor& field, std::string text);

// For the digests of many messages with common parts: each part is serialised once.
// What MessageDigest() hashes of a message, without its type's name.
std::string CanonicalBytes(const google::protobuf::Message& message);

// Builds the canonical bytes of a message from those of its parts. Add fields in order of their numbers, the elements
// of a repeated field one after the other, and no labels.
class CanonicalBuilder {
 public:
  explicit CanonicalBuilder(const google::protobuf::Descriptor& type);

  void AddNumber(int field, uint64_t value);
  void AddMessage(int field, absl::string_view canonical);

  // Call it once.
  std::string Finish();

 private:
  void Begin(int field);

  std::string bytes_;
  uint64_t fields_ = 0;
  int last_field_ = 0;
  uint64_t count_ = 0;   // elements of the last field
  size_t count_at_ = 0;  // the position of count_ in bytes_
};

// Computes the digests of messages of one type from their canonical bytes. ToHex() of a digest is the message's
// MessageDigest(). Doesn't hash the common prefix of a message and its predecessor again.
class CanonicalDigester {
 public:
  explicit CanonicalDigester(const google::protobuf::Descriptor& type);

  Sha256::Digest Of(absl::string_view canonical);

 private:
  Sha256 type_;  // of the type's name
  std::string last_;
  Sha256 beginning_;  // of the type's name and the first `begins_` bytes of `last_`
  size_t begins_ = 0;
};

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_PROTO_DIGEST_H_

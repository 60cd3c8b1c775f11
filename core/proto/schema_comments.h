// What the schemas' comments say, at run time.
#ifndef OPENSET_CORE_PROTO_SCHEMA_COMMENTS_H_
#define OPENSET_CORE_PROTO_SCHEMA_COMMENTS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace openset {

// Comments from a file of descriptors that were made with their source information (tools/build_defs/schema_set.bzl).
class SchemaComments {
 public:
  // Errors: those of reading the file; kDataLoss if it is no set of descriptors that belong together.
  static absl::StatusOr<SchemaComments> Load(const std::string& path);

  // The lines above the field, message or enum value, and those behind it, without their "//"; empty if there are none.
  std::string Of(const google::protobuf::FieldDescriptor& field) const;
  std::string Of(const google::protobuf::Descriptor& message) const;
  std::string Of(const google::protobuf::EnumValueDescriptor& value) const;

 private:
  std::unique_ptr<google::protobuf::DescriptorPool> pool_;
};

// "integer, at least 1; default 5; required": what a field takes, as its schema's rules say it.
std::string FieldRulesText(const google::protobuf::FieldDescriptor& field);

// The message as text that can be read again, each field below its comment.
std::string ToCommentedText(const google::protobuf::Message& message, const SchemaComments& comments);

// The schema of a message for people: its comment, then each field with what it takes and its comment; messages that a
// field takes follow it, indented, where they are not of another family (a oneof's members are listed by name).
std::string SchemaText(const google::protobuf::Descriptor& message, const SchemaComments& comments);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_SCHEMA_COMMENTS_H_

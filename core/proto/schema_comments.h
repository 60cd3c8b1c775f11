// The comments of the schemas at run time.
#ifndef OPENSET_CORE_PROTO_SCHEMA_COMMENTS_H_
#define OPENSET_CORE_PROTO_SCHEMA_COMMENTS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace openset {

// Comments from a file of descriptors with source information (tools/build_defs/schema_set.bzl).
class SchemaComments {
 public:
  // Errors: a read error (core/files/system_calls.h); kDataLoss also if it is not a complete set of descriptors.
  static absl::StatusOr<SchemaComments> Load(const std::string& path);

  // The comment lines above the field, message or enum value and those after it, without "//"; empty if there are none.
  std::string Of(const google::protobuf::FieldDescriptor& field) const;
  std::string Of(const google::protobuf::Descriptor& message) const;
  std::string Of(const google::protobuf::EnumValueDescriptor& value) const;

 private:
  std::unique_ptr<google::protobuf::DescriptorPool> pool_;
};

// "integer, at least 1; default 5; required": the values of a field, by the rules of its schema.
std::string FieldRulesText(const google::protobuf::FieldDescriptor& field);

// The message as text that can be parsed, with each field's comment above it.
std::string ToCommentedText(const google::protobuf::Message& message, const SchemaComments& comments);

// The schema of a message as help text: its comment, then each field with its values and its comment. The message of a
// field follows it, indented, unless it belongs to another family (a oneof's members are listed by name).
std::string SchemaText(const google::protobuf::Descriptor& message, const SchemaComments& comments);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_SCHEMA_COMMENTS_H_

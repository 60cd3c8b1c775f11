// Text protos with errors that name the file and line.
#ifndef OPENSET_CORE_PROTO_TEXT_PROTO_H_
#define OPENSET_CORE_PROTO_TEXT_PROTO_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/proto/proto_rules.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

namespace openset {

// Where each field of a parsed message stood.
class TextSource {
 public:
  TextSource(std::string file, std::unique_ptr<google::protobuf::TextFormat::ParseInfoTree> tree,
             const google::protobuf::Descriptor* descriptor);

  const std::string& file() const { return file_; }

  // "FILE:LINE: PATH" for a field path such as "loss.term[0].weight". Where the field itself is absent, the line of the
  // nearest message above it that is present; "FILE: PATH" if there is none.
  std::string Where(absl::string_view path) const;

 private:
  std::string file_;
  std::unique_ptr<google::protobuf::TextFormat::ParseInfoTree> tree_;
  const google::protobuf::Descriptor* descriptor_;
};

// Parses `text` into `message` (cleared first). `file` is used in errors only. Errors: kInvalidArgument with a line
// "FILE:LINE:COLUMN: what" each, and the names that would be valid where one is unknown.
absl::StatusOr<TextSource> ParseTextProto(absl::string_view text, const std::string& file,
                                          google::protobuf::Message* message);

// What a file of text may have: hundreds of times the largest of ours.
inline constexpr int64_t kMaxTextBytes = int64_t{1} << 26;

// ParseTextProto of a file's content, and the schema's rules (core/proto/proto_rules.h), problems with "FILE:LINE:
// path". Errors: also those of ReadGivenFile(); kDataLoss for more than kMaxTextBytes.
absl::StatusOr<TextSource> ReadTextProto(const std::string& path, google::protobuf::Message* message,
                                         Completeness completeness = Completeness::kComplete);

// kInvalidArgument with "FILE:LINE: path: problem" for each problem FindProblems() has with `message`.
absl::Status CheckRules(const google::protobuf::Message& message, const TextSource& source,
                        Completeness completeness = Completeness::kComplete);

// The message as text, one field a line.
std::string ToText(const google::protobuf::Message& message);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_TEXT_PROTO_H_

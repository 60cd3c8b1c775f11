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

// The position of each field of a parsed message in its text.
class TextSource {
 public:
  TextSource(std::string file, std::unique_ptr<google::protobuf::TextFormat::ParseInfoTree> tree,
             const google::protobuf::Descriptor* descriptor);

  const std::string& file() const { return file_; }

  // "FILE:LINE: PATH" for a field path such as "loss.term[0].weight". If the field is absent, LINE is where the nearest
  // message above it that is present begins; "FILE: PATH" if there is none.
  std::string Where(absl::string_view path) const;

 private:
  std::string file_;
  std::unique_ptr<google::protobuf::TextFormat::ParseInfoTree> tree_;
  const google::protobuf::Descriptor* descriptor_;
};

// Parses `text` into `message` (cleared first). `file` is used only in errors. Errors: kInvalidArgument with a line
// "FILE:LINE:COLUMN: what" for each problem, which lists the valid names if a name is unknown.
absl::StatusOr<TextSource> ParseTextProto(absl::string_view text, const std::string& file,
                                          google::protobuf::Message* message);

// The largest size of a text file: hundreds of times the largest of ours.
inline constexpr int64_t kMaxTextBytes = int64_t{1} << 26;

// Parses a file, which may be a pipe on the command line, and checks the schema's rules (core/proto/proto_rules.h).
// Errors: kInvalidArgument with a line for each problem, "FILE:LINE:COLUMN: what" if the text doesn't parse,
// "FILE:LINE: path: problem" if it breaks a rule; a read error (core/files/system_calls.h); kDataLoss also for more
// than kMaxTextBytes.
absl::StatusOr<TextSource> ReadTextProto(const std::string& path, google::protobuf::Message* message,
                                         Completeness completeness = Completeness::kComplete);

// Returns kInvalidArgument with "FILE:LINE: path: problem" for each problem that FindProblems() finds in `message`.
absl::Status CheckRules(const google::protobuf::Message& message, const TextSource& source,
                        Completeness completeness = Completeness::kComplete);

// The message as text, with one field on each line.
std::string ToText(const google::protobuf::Message& message);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_TEXT_PROTO_H_

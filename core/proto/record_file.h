// A file that contains one message and a checksum. Without the checksum, most single-bit flips in a serialised message
// parse as another message.
//
// Layout: the line "openset record 1\n", then the payload's length in 8 bytes (low byte first), the SHA-256 of length
// and payload, and the payload: the message in Protobuf's wire format.
#ifndef OPENSET_CORE_PROTO_RECORD_FILE_H_
#define OPENSET_CORE_PROTO_RECORD_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/message.h"

namespace openset {

// Bytes of a record file. The same message gives the same bytes.
std::string EncodeRecord(const google::protobuf::Message& message);

// Replaces the content of `message` and reuses its memory. Doesn't parse the fields of `message` with the numbers
// `without`, none of which may be required, but checks them by the checksum. Adds the numbers of those that were
// present to `left_out`, once each. Errors: kDataLoss if `bytes` is not exactly what EncodeRecord() wrote for a message
// of this type; kUnimplemented if it was written by a newer version of the layout.
absl::Status DecodeRecord(absl::string_view bytes, google::protobuf::Message* message,
                          absl::Span<const int> without = {}, std::vector<int>* left_out = nullptr);

// The bytes of a record file, not yet validated by DecodeRecord(). Errors: a read error (core/files/system_calls.h);
// kDataLoss also if the file is larger than any record; kResourceExhausted also if it doesn't fit in memory.
absl::StatusOr<std::string> ReadRecordBytes(const std::string& path);

// DecodeRecord() of a file's content. Errors, with the path: a read error; kDataLoss also if the file is no record of
// this type, or corrupt; kUnimplemented if a newer version of the layout wrote it.
absl::Status ReadRecordFile(const std::string& path, google::protobuf::Message* message,
                            absl::Span<const int> without = {}, std::vector<int>* left_out = nullptr);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_RECORD_FILE_H_

// A file that holds one message and can tell when it is damaged. A bare protobuf can't: most of its single-bit flips
// parse to another message.
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

// In place of what `message` held, whose memory is used again. The fields of `message` with the numbers `without`, none
// of which may be required, are left out: what they hold is compared with the checksum, and not parsed. The numbers of
// those that were there are added to `left_out`, once each.
// Errors: kDataLoss if `bytes` is not what EncodeRecord() wrote of a message of this type, to the bit; kUnimplemented
// if it was written by a newer version of the layout.
absl::Status DecodeRecord(absl::string_view bytes, google::protobuf::Message* message,
                          absl::Span<const int> without = {}, std::vector<int>* left_out = nullptr);

// The bytes of a record file, which are none yet that DecodeRecord() took. Errors: those of ReadFile(); kDataLoss if
// they are more than any record has.
absl::StatusOr<std::string> ReadRecordBytes(const std::string& path);

// DecodeRecord of a file's content, errors with the path. Errors: also kNotFound; kDataLoss too for a pipe in its
// place.
absl::Status ReadRecordFile(const std::string& path, google::protobuf::Message* message,
                            absl::Span<const int> without = {}, std::vector<int>* left_out = nullptr);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_RECORD_FILE_H_

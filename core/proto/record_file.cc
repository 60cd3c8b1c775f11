#include "core/proto/record_file.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"

namespace openset {
namespace {

constexpr absl::string_view kName = "openset record ";
constexpr absl::string_view kVersion = "1\n";
constexpr size_t kLengthBytes = 8;
constexpr size_t kDigestBytes = 32;
// Protobuf's own limit. It limits the depth to 100 messages.
constexpr size_t kMostBytes = 0x7fffffff;

std::string LengthBytes(uint64_t length) {
  std::string bytes(kLengthBytes, '\0');
  for (size_t i = 0; i < kLengthBytes; ++i) bytes[i] = static_cast<char>(length >> (8 * i));
  return bytes;
}

std::string DigestBytes(absl::string_view length, absl::string_view payload) {
  Sha256 sha;
  sha.Update(length);
  sha.Update(payload);
  const Sha256::Digest digest = sha.Finish();
  return std::string(digest.begin(), digest.end());
}

bool Parse(absl::string_view payload, google::protobuf::Message* message) {
  return message->ParseFromArray(payload.data(), static_cast<int>(payload.size()));
}

// Removes some fields from a message's bytes. Returns false if they are not a message.
bool LeaveOut(absl::Span<const int> without, absl::string_view payload, std::string* kept, std::vector<int>* left_out) {
  using google::protobuf::internal::WireFormatLite;
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(payload.data()),
                                               static_cast<int>(payload.size()));
  int begin = 0;
  while (const uint32_t tag = input.ReadTag()) {
    if (!WireFormatLite::SkipField(&input, tag)) return false;
    const int end = input.CurrentPosition();
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    if (!absl::c_linear_search(without, field)) {
      kept->append(payload.data() + begin, end - begin);
    } else if (left_out != nullptr && !absl::c_linear_search(*left_out, field)) {
      left_out->push_back(field);
    }
    begin = end;
  }
  return begin == static_cast<int>(payload.size());
}

}  // namespace

std::string EncodeRecord(const google::protobuf::Message& message) {
  std::string payload;
  {
    google::protobuf::io::StringOutputStream stream(&payload);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  const std::string length = LengthBytes(payload.size());
  return absl::StrCat(kName, kVersion, length, DigestBytes(length, payload), payload);
}

absl::Status DecodeRecord(absl::string_view bytes, google::protobuf::Message* message, absl::Span<const int> without,
                          std::vector<int>* left_out) {
  if (!absl::ConsumePrefix(&bytes, kName)) return absl::DataLossError("not a record file");
  if (!absl::ConsumePrefix(&bytes, kVersion)) {
    return absl::UnimplementedError("a record file of another version; a newer openset may read it");
  }
  if (bytes.size() < kLengthBytes + kDigestBytes) return absl::DataLossError("the record is cut short");
  const absl::string_view length = bytes.substr(0, kLengthBytes);
  const absl::string_view digest = bytes.substr(kLengthBytes, kDigestBytes);
  const absl::string_view payload = bytes.substr(kLengthBytes + kDigestBytes);
  if (length != LengthBytes(payload.size())) return absl::DataLossError("the record does not have its length");
  if (payload.size() > kMostBytes) return absl::DataLossError("the record is larger than any message");
  if (digest != DigestBytes(length, payload)) return absl::DataLossError("the record does not match its checksum");
  std::string kept;
  const bool parsed =
      without.empty() ? Parse(payload, message) : LeaveOut(without, payload, &kept, left_out) && Parse(kept, message);
  if (!parsed) return absl::DataLossError("the record holds another kind of message");
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadRecordBytes(const std::string& path) {
  constexpr int64_t kMostHeaderBytes = 100;
  return ReadFile(path, int64_t{kMostBytes} + kMostHeaderBytes);
}

absl::Status ReadRecordFile(const std::string& path, google::protobuf::Message* message, absl::Span<const int> without,
                            std::vector<int>* left_out) {
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadRecordBytes(path));
  return Annotate(DecodeRecord(bytes, message, without, left_out), path);
}

}  // namespace openset

#include "data/readers/gzip.h"

#define ZLIB_CONST  // zlib takes its input by pointer to const
#include <zlib.h>

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// zlib counts bytes in 32 bits.
constexpr int64_t kMaxStep = int64_t{1} << 30;
constexpr int64_t kFirstBuffer = int64_t{1} << 16;

// The second argument of zlib's inflateInit2: 15 means the largest window, 16 more mean gzip's header and trailer.
constexpr int kZlib = 15;
constexpr int kGzip = 15 + 16;

absl::StatusOr<std::string> Inflate(absl::string_view bytes, int format, int64_t max_bytes) {
  const absl::string_view what = format == kGzip ? "gzip" : "zlib";
  z_stream stream{};
  if (inflateInit2(&stream, format) != Z_OK) return absl::ResourceExhaustedError("no memory to inflate with");
  const absl::Cleanup end = [&stream] { inflateEnd(&stream); };

  std::string content;
  int64_t filled = 0;
  const size_t size = bytes.size();
  while (true) {
    if (stream.avail_in == 0) {
      const int64_t step = std::min<int64_t>(bytes.size(), kMaxStep);
      stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
      stream.avail_in = static_cast<uInt>(step);
      bytes.remove_prefix(step);
    }
    // One byte more than allowed, to notice that there is more.
    if (filled == content.size()) content.resize(std::min(std::max(2 * filled, kFirstBuffer), max_bytes + 1));
    const uInt room = static_cast<uInt>(std::min<int64_t>(content.size() - filled, kMaxStep));
    stream.next_out = reinterpret_cast<Bytef*>(&content[filled]);
    stream.avail_out = room;
    const int result = inflate(&stream, Z_NO_FLUSH);
    filled += room - stream.avail_out;
    if (filled > max_bytes) {
      return absl::DataLossError(absl::StrCat("the ", what, " stream inflates to more than ", max_bytes, " bytes"));
    }
    const bool input_used_up = stream.avail_in == 0 && bytes.empty();
    const size_t at = size - bytes.size() - stream.avail_in;
    if (result == Z_STREAM_END) {
      if (input_used_up) break;
      if (format == kZlib)
        return absl::DataLossError(
            absl::StrCat("there is data after the zlib stream, at byte ", at, "; fetch the file again"));
      inflateReset(&stream);  // another member
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return absl::DataLossError(absl::StrCat("the ", what, " stream is corrupt at byte ", at, " (",
                                              stream.msg != nullptr ? stream.msg : "zlib gives no reason",
                                              "); fetch the file again"));
    } else if (input_used_up && stream.avail_out > 0) {
      return absl::DataLossError(
          absl::StrCat("the ", what, " stream is truncated at byte ", at, "; fetch the file again"));
    }
  }
  content.resize(filled);
  return content;
}

}  // namespace

absl::StatusOr<std::string> Gunzip(absl::string_view bytes, int64_t max_bytes) {
  return Inflate(bytes, kGzip, max_bytes);
}

absl::StatusOr<std::string> InflateZlib(absl::string_view bytes, int64_t max_bytes) {
  return Inflate(bytes, kZlib, max_bytes);
}

absl::StatusOr<std::string> ReadPlainOrGzipped(const std::string& path, int64_t max_bytes) {
  OPENSET_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path, max_bytes));
  if (bytes.compare(0, 2, "\x1f\x8b") != 0) return bytes;
  absl::StatusOr<std::string> content = Gunzip(bytes, max_bytes);
  if (!content.ok()) return Annotate(content.status(), path);
  return content;
}

}  // namespace openset

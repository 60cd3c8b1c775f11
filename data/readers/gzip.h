// Reads files that may be gzipped.
#ifndef OPENSET_DATA_READERS_GZIP_H_
#define OPENSET_DATA_READERS_GZIP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

// The limit on a file's size, compressed and inflated: twice the size of the largest published data set of 28 x 28
// images.
inline constexpr int64_t kMaxInflatedBytes = int64_t{1} << 30;

// Returns the content of a gzip stream (RFC 1952; the contents of several members are concatenated). Allocates memory
// only for data that was actually inflated. Errors: kDataLoss if the stream is truncated or corrupt, if other data
// follows it, or if it inflates to more than `max_bytes` (a decompression bomb).
absl::StatusOr<std::string> Gunzip(absl::string_view bytes, int64_t max_bytes = kMaxInflatedBytes);

// Returns the content of one zlib stream (RFC 1950). Errors: as Gunzip().
absl::StatusOr<std::string> InflateZlib(absl::string_view bytes, int64_t max_bytes = kMaxInflatedBytes);

// Returns the content of a file, inflated if it begins with gzip's 1f 8b. The limit `max_bytes` applies to both.
// Errors, with the path: a read error (core/files/system_calls.h); kDataLoss also if it is larger, or the stream is
// truncated or corrupt, or other data follows it.
absl::StatusOr<std::string> ReadPlainOrGzipped(const std::string& path, int64_t max_bytes = kMaxInflatedBytes);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_GZIP_H_

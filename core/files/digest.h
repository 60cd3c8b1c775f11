// SHA-256 and MD5 of bytes and files.
#ifndef OPENSET_CORE_FILES_DIGEST_H_
#define OPENSET_CORE_FILES_DIGEST_H_

#include <nettle/sha2.h>

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

// ---- SHA-256 of bytes and files.

// Computes a SHA-256 incrementally: Update() any number of times, then Finish() once.
class Sha256 {
 public:
  using Digest = std::array<uint8_t, 32>;

  Sha256();
  void Update(absl::string_view bytes);
  Digest Finish();

 private:
  sha256_ctx context_;
};

// The digest of `bytes`.
Sha256::Digest Sha256Of(absl::string_view bytes);

// The digest as 64 lower-case hexadecimal digits.
std::string Sha256Hex(absl::string_view bytes);
std::string ToHex(const Sha256::Digest& digest);

// The largest file that Sha256HexOfFile() reads: larger than the archives of the largest data sets.
inline constexpr int64_t kMaxHashedBytes = int64_t{1} << 40;

// The digest of a file's content. Errors: a read error (core/files/system_calls.h); kDataLoss also if the file has more
// than `max_bytes` (nothing is read if the system reports such a size).
absl::StatusOr<std::string> Sha256HexOfFile(const std::string& path, int64_t max_bytes = kMaxHashedBytes);

// Reads a file that must have this digest; "" accepts any. Errors: a read error; kDataLoss also if the file has more
// than kMaxFileBytes (core/files/files.h); kResourceExhausted also if it doesn't fit in memory; kFailedPrecondition,
// with both digests and what to do, if it has another digest.
absl::StatusOr<std::string> ReadFileWithDigest(const std::string& path, const std::string& sha256);

// MD5 of files, for data sets that publish no better checksum. It detects corruption, not malice.

// As 32 lower-case hexadecimal digits. Errors: a read error.
absl::StatusOr<std::string> Md5HexOfFile(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_DIGEST_H_

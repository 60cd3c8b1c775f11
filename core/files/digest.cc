#include "core/files/digest.h"

#include <nettle/md5.h>

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/input_file.h"
#include "core/status_macros.h"

namespace openset {

Sha256::Sha256() { sha256_init(&context_); }

void Sha256::Update(absl::string_view bytes) {
  sha256_update(&context_, bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data()));
}

Sha256::Digest Sha256::Finish() {
  Digest digest;
  sha256_digest(&context_, digest.size(), digest.data());
  return digest;
}

Sha256::Digest Sha256Of(absl::string_view bytes) {
  Sha256 sha;
  sha.Update(bytes);
  return sha.Finish();
}

std::string ToHex(const Sha256::Digest& digest) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

std::string Sha256Hex(absl::string_view bytes) { return ToHex(Sha256Of(bytes)); }

absl::StatusOr<std::string> Sha256HexOfFile(const std::string& path, int64_t max_bytes) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(path));
  Sha256 sha;
  std::vector<char> buffer(1 << 20);
  int64_t bytes = file.bytes();  // files of /proc have 0, others may grow
  for (size_t got = buffer.size(), read = 0; got == buffer.size() && bytes <= max_bytes;) {
    OPENSET_ASSIGN_OR_RETURN(got, file.Read(buffer.data(), buffer.size()));
    sha.Update(absl::string_view(buffer.data(), got));
    read += got;
    bytes = std::max<int64_t>(bytes, read);
  }
  if (bytes > max_bytes) {
    return absl::DataLossError(
        absl::StrCat(path, ": has ", bytes, " bytes, more than the ", max_bytes, " that such a file may have"));
  }
  return ToHex(sha.Finish());
}

absl::StatusOr<std::string> ReadFileWithDigest(const std::string& path, const std::string& sha256) {
  OPENSET_ASSIGN_OR_RETURN(std::string content, ReadFile(path));
  if (sha256.empty()) return content;
  if (const std::string actual = Sha256Hex(content); actual != sha256) {
    return absl::FailedPreconditionError(absl::StrCat(path, " has the SHA-256 ", actual, ", not ", sha256,
                                                      ": restore the original file, or correct sha256"));
  }
  return content;
}

absl::StatusOr<std::string> Md5HexOfFile(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(path));
  md5_ctx context;
  md5_init(&context);
  std::vector<char> buffer(1 << 20);
  for (size_t got = buffer.size(); got == buffer.size();) {
    OPENSET_ASSIGN_OR_RETURN(got, file.Read(buffer.data(), buffer.size()));
    md5_update(&context, got, reinterpret_cast<const uint8_t*>(buffer.data()));
  }
  uint8_t digest[MD5_DIGEST_SIZE];
  md5_digest(&context, sizeof digest, digest);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), sizeof digest));
}

}  // namespace openset

#include "core/files/md5.h"

#include <nettle/md5.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace openset {

absl::StatusOr<std::string> Md5HexOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot open ", path, ": ", std::strerror(errno)));
  md5_ctx context;
  md5_init(&context);
  std::vector<char> buffer(1 << 20);
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0) {
    md5_update(&context, file.gcount(), reinterpret_cast<const uint8_t*>(buffer.data()));
  }
  if (file.bad()) return absl::DataLossError(absl::StrCat("cannot read ", path));
  uint8_t digest[MD5_DIGEST_SIZE];
  md5_digest(&context, sizeof digest, digest);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), sizeof digest));
}

}  // namespace openset

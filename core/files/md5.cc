#include "core/files/md5.h"

#include <nettle/md5.h>

#include <cstdint>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "core/files/input_file.h"
#include "core/status_macros.h"

namespace openset {

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

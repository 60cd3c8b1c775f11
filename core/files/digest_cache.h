// SHA-256 of large files, computed once.
#ifndef OPENSET_CORE_FILES_DIGEST_CACHE_H_
#define OPENSET_CORE_FILES_DIGEST_CACHE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace openset {

// Stores digests in a folder, in one file for each path or for all files of a folder, with the FileState
// (core/files/file_state.h). A file is hashed again if its state has changed, or if it had not settled when it was
// hashed. Processes may share the folder. If the folder can't be written, only time is lost.
class DigestCache {
 public:
  // Files below `min_bytes` are always hashed, which is about as fast as a lookup.
  explicit DigestCache(std::string folder, int64_t min_bytes = 1 << 20)
      : folder_(std::move(folder)), min_bytes_(min_bytes) {}

  // In ~/.cache/openset/digests. Stores nothing if HOME is not set.
  static DigestCache OfUser();

  // The SHA-256 of a file's content, in hexadecimal. If the file has to be read, calls `check` first with its path,
  // unless it is null. Errors: a read error (core/files/system_calls.h); any error that `check` returns.
  absl::StatusOr<std::string> Sha256Hex(const std::string& path,
                                        absl::Status (*check)(const std::string& path) = nullptr) const;

  // The SHA-256 over a line "NAME SHA256" for each of these files of a folder, in this order. The digest of each file
  // is stored, so that other selections use it too. Calls `hashed`, unless it is null, with the path of each file that
  // had to be hashed. If `hashed` returns false, the file's digest is not stored, so the next call hashes it again.
  // Errors: a read error.
  absl::StatusOr<std::string> Sha256HexOfFiles(
      const std::string& folder, const std::vector<std::string>& names,
      const std::function<bool(const std::string& path)>& hashed = nullptr) const;

 private:
  // The path of the stored digest of `path`.
  std::string EntryOf(const std::string& absolute) const;

  std::string folder_;  // "": none
  int64_t min_bytes_;
};

}  // namespace openset

#endif  // OPENSET_CORE_FILES_DIGEST_CACHE_H_

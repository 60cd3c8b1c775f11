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

// Remembers digests in a folder, one file for each or for all of a folder's, by path and FileState
// (core/files/file_state.h). A file whose state is another one is hashed again; so is one that had not settled when it
// was hashed. Processes may share a folder. A folder that can't be written to costs only time.
class DigestCache {
 public:
  // Files below `min_bytes` are always hashed: that is about as fast as looking.
  explicit DigestCache(std::string folder, int64_t min_bytes = 1 << 20)
      : folder_(std::move(folder)), min_bytes_(min_bytes) {}

  // In ~/.cache/openset/digests; remembers nothing where HOME is not set.
  static DigestCache OfUser();

  // The SHA-256 of a file's content, in hexadecimal. `check`, unless it is null, is called with the path before the
  // file is read, which a remembered one is not. Errors: those of `check` and Sha256HexOfFile() (core/files/digest.h).
  absl::StatusOr<std::string> Sha256Hex(const std::string& path,
                                        absl::Status (*check)(const std::string& path) = nullptr) const;

  // The SHA-256 over a line "NAME SHA256" for each of these files of a folder, in this order, each remembered whatever
  // others were asked for beside it; `hashed`, unless it is null, is called after each that had to be hashed. Errors:
  // those of Sha256HexOfFile().
  absl::StatusOr<std::string> Sha256HexOfFiles(const std::string& folder, const std::vector<std::string>& names,
                                               const std::function<void()>& hashed = nullptr) const;

 private:
  // Where what is remembered for `path` lies.
  std::string EntryOf(const std::string& absolute) const;

  std::string folder_;  // "": none
  int64_t min_bytes_;
};

}  // namespace openset

#endif  // OPENSET_CORE_FILES_DIGEST_CACHE_H_

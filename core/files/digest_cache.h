// SHA-256 of large files, computed once.
#ifndef OPENSET_CORE_FILES_DIGEST_CACHE_H_
#define OPENSET_CORE_FILES_DIGEST_CACHE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace openset {

// Remembers digests in a folder, one small file for each, by path, device, inode, size, and the times of the last
// change of content and of inode, to the nanosecond. A file of which any of these differs is hashed again; so is one
// that was changed less than kSettled seconds before it was hashed, which another change could follow within one tick
// of the file system's clock. Processes may share a folder. A folder that can't be written to costs only time.
class DigestCache {
 public:
  static constexpr int kSettled = 2;

  // Files below `min_bytes` are always hashed: that is about as fast as looking.
  explicit DigestCache(std::string folder, int64_t min_bytes = 1 << 20)
      : folder_(std::move(folder)), min_bytes_(min_bytes) {}

  // In ~/.cache/openset/digests; remembers nothing where HOME is not set.
  static DigestCache OfUser();

  // The SHA-256 of a file's content, in hexadecimal. Errors: those of Sha256HexOfFile() (core/files/digest.h).
  absl::StatusOr<std::string> Sha256Hex(const std::string& path) const;

  // The SHA-256 over a line "NAME SHA256" for each of these files of a folder, in this order, remembered as one: where
  // one of them differs, all are hashed again; then `hashed`, unless it is null, is called after each. Errors: those of
  // Sha256HexOfFile().
  absl::StatusOr<std::string> Sha256HexOfFiles(const std::string& folder, const std::vector<std::string>& names,
                                               const std::function<void()>& hashed = nullptr) const;

 private:
  // What is remembered for `path`, by what tells its state; or else what `compute` gives, which is remembered where the
  // state is still the same then and the last change was long enough ago.
  struct State {
    std::string text;
    int64_t changed_at_seconds = 0;
  };
  absl::StatusOr<std::string> Remembered(const std::string& path, const std::function<State()>& state_of,
                                         const std::function<absl::StatusOr<std::string>()>& compute) const;
  static State StateOf(const std::string& path, int64_t* bytes);

  std::string folder_;  // "": none
  int64_t min_bytes_;
};

}  // namespace openset

#endif  // OPENSET_CORE_FILES_DIGEST_CACHE_H_

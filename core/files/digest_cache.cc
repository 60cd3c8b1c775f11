#include "core/files/digest_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/status_macros.h"

namespace openset {
// What tells one state of a file from another; no text if there is no such file.
DigestCache::State DigestCache::StateOf(const std::string& path, int64_t* bytes) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return {};
  *bytes = info.st_size;
  return {absl::StrCat(info.st_dev, " ", info.st_ino, " ", info.st_size, " ", info.st_mtim.tv_sec, ".",
                       info.st_mtim.tv_nsec, " ", info.st_ctim.tv_sec, ".", info.st_ctim.tv_nsec),
          std::max(info.st_mtim.tv_sec, info.st_ctim.tv_sec)};
}

DigestCache DigestCache::OfUser() {
  const char* home = std::getenv("HOME");
  return DigestCache(home == nullptr ? "" : absl::StrCat(home, "/.cache/openset/digests"));
}

absl::StatusOr<std::string> DigestCache::Sha256Hex(const std::string& path) const {
  int64_t bytes = 0;
  const State state = StateOf(path, &bytes);
  if (state.text.empty() || bytes < min_bytes_) return Sha256HexOfFile(path);
  return Remembered(
      path, [&] { return StateOf(path, &bytes); }, [&] { return Sha256HexOfFile(path); });
}

absl::StatusOr<std::string> DigestCache::Sha256HexOfFiles(const std::string& folder,
                                                          const std::vector<std::string>& names,
                                                          const std::function<void()>& hashed) const {
  const auto state_of = [&] {
    State all;
    Sha256 sum;
    for (const std::string& name : names) {
      int64_t bytes = 0;
      const State state = StateOf(JoinPath(folder, name), &bytes);
      all.changed_at_seconds = std::max(all.changed_at_seconds, state.changed_at_seconds);
      sum.Update(absl::StrCat(name, "\n", state.text, "\n"));
    }
    all.text = ToHex(sum.Finish());
    return all;
  };
  // The path of a folder's files, which is no file's.
  return Remembered(JoinPath(folder, ""), state_of, [&]() -> absl::StatusOr<std::string> {
    Sha256 sum;
    for (const std::string& name : names) {
      OPENSET_ASSIGN_OR_RETURN(const std::string digest, Sha256HexOfFile(JoinPath(folder, name)));
      sum.Update(absl::StrCat(name, " ", digest, "\n"));
      if (hashed != nullptr) hashed();
    }
    return ToHex(sum.Finish());
  });
}

absl::StatusOr<std::string> DigestCache::Remembered(const std::string& path, const std::function<State()>& state_of,
                                                    const std::function<absl::StatusOr<std::string>()>& compute) const {
  if (folder_.empty()) return compute();
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).lexically_normal().string();
  const std::string entry = JoinPath(folder_, openset::Sha256Hex(absolute));
  const State state = state_of();
  // Three lines: the path, its state, the digest.
  const std::vector<std::string> lines = absl::StrSplit(ReadFile(entry).value_or(""), '\n');
  if (lines.size() == 4 && lines[0] == absolute && lines[1] == state.text && lines[2].size() == 64) return lines[2];

  const std::time_t started = std::time(nullptr);
  OPENSET_ASSIGN_OR_RETURN(std::string digest, compute());
  const bool has_settled = state.changed_at_seconds + kSettled <= started;
  if (has_settled && state_of().text == state.text && MakeFolders(folder_).ok()) {
    WriteFileAtomically(entry, absl::StrCat(absolute, "\n", state.text, "\n", digest, "\n")).IgnoreError();
  }
  return digest;
}

}  // namespace openset

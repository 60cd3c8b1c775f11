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
namespace {

// What tells one state of a file from another; "" if there is no such file.
std::string StateOf(const std::string& path, struct stat* info) {
  if (stat(path.c_str(), info) != 0) return "";
  return absl::StrCat(info->st_dev, " ", info->st_ino, " ", info->st_size, " ", info->st_mtim.tv_sec, ".",
                      info->st_mtim.tv_nsec, " ", info->st_ctim.tv_sec, ".", info->st_ctim.tv_nsec);
}

}  // namespace

DigestCache DigestCache::OfUser() {
  const char* home = std::getenv("HOME");
  return DigestCache(home == nullptr ? "" : absl::StrCat(home, "/.cache/openset/digests"));
}

absl::StatusOr<std::string> DigestCache::Sha256Hex(const std::string& path) const {
  struct stat info;
  const std::string state = StateOf(path, &info);
  if (folder_.empty() || state.empty() || info.st_size < min_bytes_) return Sha256HexOfFile(path);

  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).lexically_normal().string();
  const std::string entry = JoinPath(folder_, openset::Sha256Hex(absolute));
  // Three lines: the path, its state, the digest.
  const std::vector<std::string> lines = absl::StrSplit(ReadFile(entry).value_or(""), '\n');
  if (lines.size() == 4 && lines[0] == absolute && lines[1] == state && lines[2].size() == 64) return lines[2];

  const std::time_t started = std::time(nullptr);
  OPENSET_ASSIGN_OR_RETURN(std::string digest, Sha256HexOfFile(path));
  const bool has_settled = std::max(info.st_mtim.tv_sec, info.st_ctim.tv_sec) + kSettled <= started;
  if (has_settled && StateOf(path, &info) == state && MakeFolders(folder_).ok()) {
    WriteFileAtomically(entry, absl::StrCat(absolute, "\n", state, "\n", digest, "\n")).IgnoreError();
  }
  return digest;
}

}  // namespace openset

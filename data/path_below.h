// Checks paths from untrusted files: catalogs, lists and archives.
#ifndef OPENSET_DATA_PATH_BELOW_H_
#define OPENSET_DATA_PATH_BELOW_H_

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace openset {

// Returns why `path` may not be used as a path below a folder, as the end of a sentence ("has '..' in it"), or "" if it
// may. "." is allowed, also as a part of the path. The file system is not read, so links below the folder are not
// detected.
inline std::string WhyNotBelow(absl::string_view path) {
  constexpr size_t kMostBytes = 4000, kMostBytesOfName = 255, kMostFolders = 64;
  if (path.empty()) return "is empty";
  if (path.size() > kMostBytes) return "is longer than 4000 bytes";
  if (path[0] == '/') return "begins with '/'";
  for (const char c : path) {
    if (absl::ascii_iscntrl(c)) return "has a control character in it";
  }
  size_t folders = 0;
  for (const absl::string_view name : absl::StrSplit(path, '/')) {
    if (name == "..") return "has '..' in it";
    if (name.size() > kMostBytesOfName) return "has a name of more than 255 bytes in it";
    if (++folders > kMostFolders) return "has more than 64 folders in it";
  }
  return "";
}

}  // namespace openset

#endif  // OPENSET_DATA_PATH_BELOW_H_

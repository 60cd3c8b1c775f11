// Paths that other people's files name: of catalogs, lists and archives.
#ifndef OPENSET_DATA_PATH_BELOW_H_
#define OPENSET_DATA_PATH_BELOW_H_

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace openset {

// Why `path` may not stand for something below a folder, as the end of a sentence ("has '..' in it"); "" if it may. It
// may be "." and have "." in it. No file is looked at: of links below the folder it knows nothing.
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

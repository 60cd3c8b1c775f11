#include "core/files/file_state.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "core/files/system_calls.h"

namespace openset {

namespace {

FileState StateOf(const struct stat& info) {
  return {absl::StrCat(info.st_dev, " ", info.st_ino, " ", info.st_size, " ", info.st_mtim.tv_sec, ".",
                       info.st_mtim.tv_nsec, " ", info.st_ctim.tv_sec, ".", info.st_ctim.tv_nsec),
          info.st_size, std::max<int64_t>(info.st_mtim.tv_sec, info.st_ctim.tv_sec)};
}

}  // namespace

FileState StateOf(const std::string& path) {
  struct stat info;
  return StatFile(path, &info) == 0 ? StateOf(info) : FileState{};
}

FileState StateOf(int folder, const std::string& name) {
  struct stat info;
  return fstatat(folder, name.c_str(), &info, 0) == 0 ? StateOf(info) : FileState{};
}

std::string UserCacheFolder(const std::string& name) {
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : absl::StrCat(home, "/.cache/openset/", name);
}

}  // namespace openset

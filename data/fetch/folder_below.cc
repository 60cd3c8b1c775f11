#include "data/fetch/folder_below.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/path_below.h"

namespace openset {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

absl::Status InTheWay(const std::string& path) {
  return absl::FailedPreconditionError(
      absl::StrCat(OneLine(path),
                   " is in the way: it is a link, a file in place of a folder, or a folder in place of a file, and "
                   "links are not followed: move it away"));
}

absl::StatusOr<std::vector<std::string>> NamesIn(const OpenFolder& folder) {
  const int copy = openat(folder.descriptor(), ".", kFolder);
  DIR* const stream = copy < 0 ? nullptr : fdopendir(copy);
  if (stream == nullptr) return SystemError("list", folder.path());
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(stream)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  const absl::Status status = errno == 0 ? absl::OkStatus() : SystemError("list", folder.path());
  closedir(stream);
  OPENSET_RETURN_IF_ERROR(status);
  std::sort(names.begin(), names.end());
  return names;
}

// The state of `name` itself; links are not followed.
absl::StatusOr<struct stat> StateOf(const OpenFolder& folder, const std::string& name) {
  struct stat info = {};
  if (fstatat(folder.descriptor(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) return info;
  return SystemError("look at", JoinPath(folder.path(), name));
}

// Checks that there are only files and folders, and removes permissions that they don't need.
absl::Status CheckTree(const OpenFolder& folder) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(folder));
  for (const std::string& name : names) {
    OPENSET_ASSIGN_OR_RETURN(const struct stat info, StateOf(folder, name));
    const std::string shown = OneLine(JoinPath(folder.path(), name));
    const bool is_folder = S_ISDIR(info.st_mode);
    if (!is_folder && (!S_ISREG(info.st_mode) || info.st_nlink > 1)) {
      return absl::DataLossError(absl::StrCat(shown, ": is a link, a pipe or a device, which no data set holds"));
    }
    const mode_t rights = (info.st_mode & (is_folder ? 02775 : 0775)) | (is_folder ? 0700 : 0600);
    if (rights != (info.st_mode & 07777) && fchmodat(folder.descriptor(), name.c_str(), rights, 0) != 0) {
      return SystemError("set the rights of", shown);
    }
    if (!is_folder) continue;
    OPENSET_ASSIGN_OR_RETURN(const OpenFolder child, folder.Child(name));
    OPENSET_RETURN_IF_ERROR(CheckTree(child));
  }
  return absl::OkStatus();
}

absl::Status MoveAll(const OpenFolder& from, const OpenFolder& to) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(from));
  for (const std::string& name : names) {
    const std::string shown = JoinPath(to.path(), name);
    struct stat old = {};
    const bool is_there = fstatat(to.descriptor(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
    OPENSET_ASSIGN_OR_RETURN(const struct stat info, StateOf(from, name));
    if (is_there && S_ISDIR(info.st_mode)) {
      OPENSET_ASSIGN_OR_RETURN(const OpenFolder source, from.Child(name));
      OPENSET_ASSIGN_OR_RETURN(const OpenFolder target, to.Child(name));
      OPENSET_RETURN_IF_ERROR(MoveAll(source, target));
      continue;
    }
    if (is_there && S_ISDIR(old.st_mode)) return InTheWay(shown);
    if (renameat(from.descriptor(), name.c_str(), to.descriptor(), name.c_str()) != 0)
      return SystemError("make", shown);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SystemError(absl::string_view what, absl::string_view path) {
  return absl::UnavailableError(absl::StrCat("cannot ", what, " ", OneLine(path), ": ", std::strerror(errno)));
}

absl::StatusOr<OpenFolder> OpenFolder::Open(const std::string& path) {
  const int descriptor = open(path.c_str(), kFolder);
  if (descriptor < 0) return SystemError("open the folder", path);
  return OpenFolder(descriptor, path);
}

OpenFolder::OpenFolder(OpenFolder&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

OpenFolder& OpenFolder::operator=(OpenFolder&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

OpenFolder::~OpenFolder() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<OpenFolder> OpenFolder::Child(const std::string& name) const {
  const std::string path = JoinPath(path_, name);
  if (mkdirat(descriptor_, name.c_str(), 0777) != 0 && errno != EEXIST) return SystemError("make the folder", path);
  const int child = openat(descriptor_, name.c_str(), kFolder | O_NOFOLLOW);
  if (child < 0 && (errno == ELOOP || errno == ENOTDIR)) return InTheWay(path);
  if (child < 0) return SystemError("open the folder", path);
  return OpenFolder(child, path);
}

absl::StatusOr<OpenFolder> OpenFolder::Below(absl::string_view path) const {
  const std::string why = path.empty() ? "" : WhyNotBelow(path);
  if (!why.empty()) return absl::InvalidArgumentError(absl::StrCat("the path '", OneLine(path), "' ", why));
  const int copy = openat(descriptor_, ".", kFolder);
  if (copy < 0) return SystemError("open the folder", path_);
  OpenFolder folder(copy, path_);
  for (const absl::string_view name : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    if (name == ".") continue;
    OPENSET_ASSIGN_OR_RETURN(folder, folder.Child(std::string(name)));
  }
  return folder;
}

absl::Status MoveInto(const OpenFolder& from, const OpenFolder& to) {
  OPENSET_RETURN_IF_ERROR(CheckTree(from));
  return MoveAll(from, to);
}

}  // namespace openset

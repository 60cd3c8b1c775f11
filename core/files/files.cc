#include "core/files/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <set>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/files/input_file.h"
#include "core/files/system_calls.h"
#include "core/machine/machine.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr size_t kFirstRead = 1 << 12;

absl::Status SystemError(absl::string_view what, const std::string& path) {
  const int error = errno;
  if (error == ELOOP || error == ENOTDIR) OPENSET_RETURN_IF_ERROR(CheckNoLink(path));
  return absl::UnavailableError(absl::StrCat("cannot ", what, " ", path, ": ", std::strerror(error)));
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Makes `path`, which exists, durable.
absl::Status Sync(const std::string& path, int flags, SyncOf what) {
  const int fd = RetryInterrupted([&] { return Calls().Open(path, flags | O_CLOEXEC, 0); });
  if (fd < 0) return SystemError("open", path);
  const bool ok = RetryInterrupted([&] { return Calls().Sync(fd, what); }) == 0;
  const int error = errno;
  Calls().Close(fd);
  errno = error;
  return ok ? absl::OkStatus() : SystemError("sync", path);
}

absl::Status SyncNames(const std::string& folder, SyncOf what) { return Sync(folder, O_RDONLY | O_DIRECTORY, what); }

enum class Lasting { kDurable, kNonDurable };  // whether the file survives a power cut

// Writes a new file, which errors call `shown`; removes it if writing fails.
absl::Status WriteNew(const std::string& path, const std::string& shown, absl::string_view content, Lasting lasting) {
  const int fd = RetryInterrupted([&] { return Calls().Open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
  if (fd < 0) return SystemError("create", shown);
  absl::Status status;
  while (!content.empty() && status.ok()) {
    const ssize_t written = RetryInterrupted([&] { return Calls().Write(fd, content.data(), content.size()); });
    if (written < 0) {
      status = SystemError("write", shown);
    } else {
      content.remove_prefix(written);
    }
  }
  if (lasting == Lasting::kDurable && status.ok() &&
      RetryInterrupted([&] { return Calls().Sync(fd, SyncOf::kFile); }) != 0) {
    status = SystemError("sync", shown);
  }
  // Linux closes the file whatever close() returns, and a sync has already reported errors of the content.
  if (Calls().Close(fd) != 0 && errno != EINTR && status.ok()) status = SystemError("close", shown);
  if (!status.ok()) Calls().Unlink(path);
  return status;
}

// Removes `temporary` if the rename fails.
absl::Status RenameTo(const std::string& temporary, const std::string& path) {
  if (RetryInterrupted([&] { return Calls().Rename(temporary, path); }) == 0) return absl::OkStatus();
  const absl::Status status = SystemError("rename to", path);
  Calls().Unlink(temporary);
  return status;
}

// Always removes the temporary name. Returns false if `path` already exists.
absl::StatusOr<bool> LinkTo(const std::string& temporary, const std::string& path) {
  bool linked = RetryInterrupted([&] { return Calls().Link(temporary, path); }) == 0;
  const int error = errno;
  // Over NFS, the link may exist although the reply was lost; the link count shows it.
  struct stat info;
  if (!linked) linked = StatFile(temporary, &info) == 0 && info.st_nlink == 2;
  Calls().Unlink(temporary);
  if (linked || error == EEXIST) return linked;
  errno = error;
  return SystemError("link", path);
}

absl::StatusOr<std::string> ReadAll(absl::StatusOr<InputFile> file, int64_t max_bytes) {
  OPENSET_RETURN_IF_ERROR(file.status());
  size_t size = 0;  // of the requested buffer
  const auto too_large = [&](absl::string_view bytes) {
    return absl::DataLossError(
        absl::StrCat(file->path(), ": has ", bytes, " bytes, more than the ", max_bytes, " that such a file may have"));
  };
  if (file->bytes() > max_bytes) return too_large(absl::StrCat(file->bytes()));
  // Files that report no size (pipes, /proc) grow the buffer; so does the extra byte that shows the end of a file.
  std::string content;
  const auto grow = [&](size_t bytes) { content.resize(size = bytes); };
  try {
    grow(std::max<size_t>(file->bytes(), kFirstRead) + 1);
    for (size_t filled = 0;;) {
      OPENSET_ASSIGN_OR_RETURN(const size_t got, file->Read(&content[filled], content.size() - filled));
      filled += got;
      if (static_cast<int64_t>(filled) > max_bytes) return too_large(absl::StrCat(filled, " or more"));
      if (filled < content.size()) {
        content.resize(filled);
        return content;
      }
      grow(2 * content.size());
    }
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(file->path(), ": doesn't fit in memory (", size, " bytes)"));
  }
}

// Errors: `path`, where a file will be written, is a pipe or a device, or a link that is not followed there.
// /dev/stdout and the like are links to the real target.
absl::Status RefuseDevice(const std::string& path) {
  OPENSET_RETURN_IF_ERROR(CheckNoLink(path));
  struct stat info;
  const bool is_other = StatFile(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
  if (FolderOf(path) != "/dev" && !is_other) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": is a pipe or a device: name a file"));
}

// Whether the folder's name is already durable: made so by this process, or by the one that created it earlier.
bool IsKnownFolder(const std::string& path, bool add) {
  static std::mutex mutex;
  static std::set<std::string>* const known = new std::set<std::string>;
  const std::lock_guard<std::mutex> lock(mutex);
  return add ? !known->insert(path).second : known->count(path) > 0;
}

}  // namespace

std::string JoinPath(absl::string_view a, absl::string_view b) {
  return (std::filesystem::path(std::string(a)) / std::string(b)).string();
}

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  return std::filesystem::absolute(path, error).lexically_normal().string();
}

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  return ReadAll(OpenRegularFile(path), max_bytes);
}

absl::StatusOr<std::string> ReadGivenFile(const std::string& path, int64_t max_bytes) {
  return ReadAll(OpenGivenFile(path), max_bytes);
}

absl::StatusOr<bool> LookForFile(const std::string& path) {
  struct stat info;
  if (StatFile(path, &info) == 0) return true;
  absl::Status status = ErrorAt(errno, "look at", path);
  if (absl::IsNotFound(status)) return false;
  return status;
}

bool FileExists(const std::string& path) {
  const absl::StatusOr<bool> is_there = LookForFile(path);
  return is_there.ok() ? *is_there : !absl::IsInvalidArgument(is_there.status());
}

int64_t FileSize(const std::string& path) {
  struct stat info;
  return StatFile(path, &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : 0;
}

absl::Status MakeFolders(const std::string& path) {
  struct stat info;
  if (StatFile(path, &info) == 0 && S_ISDIR(info.st_mode)) {
    // Another process may have just created it, and not yet synced its name.
    if (!IsKnownFolder(path, false) && SyncNames(FolderOf(path), SyncOf::kFoundFolder).ok()) IsKnownFolder(path, true);
    return absl::OkStatus();
  }
  const std::string above = FolderOf(path);
  if (above != path && above != ".") OPENSET_RETURN_IF_ERROR(MakeFolders(above));
  if (RetryInterrupted([&] { return Calls().MakeFolder(path, 0777); }) != 0 &&
      (errno != EEXIST || StatFile(path, &info) != 0 || !S_ISDIR(info.st_mode))) {
    return SystemError("make the folder", path);
  }
  OPENSET_RETURN_IF_ERROR(SyncNames(above, SyncOf::kNewFolder));
  IsKnownFolder(path, true);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path) {
  std::vector<std::string> names;
  const int descriptor = OpenFile(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  DIR* const folder = descriptor < 0 ? nullptr : fdopendir(descriptor);
  int error = folder == nullptr ? errno : 0;
  if (folder == nullptr && descriptor >= 0) close(descriptor);
  while (folder != nullptr) {
    errno = 0;  // readdir() returns nothing at the end and if it fails
    const dirent* const entry = readdir(folder);
    error = errno;
    if (entry == nullptr) break;
    const absl::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (folder != nullptr) closedir(folder);
  if (error != 0) {
    const absl::Status status = ErrorAt(error, "list", path);
    if (error != ENOTDIR || !absl::IsNotFound(status) || !FileExists(path)) return status;
    return absl::InvalidArgumentError(absl::StrCat("cannot list ", path, ": it is a file, not a folder"));
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status WriteFileAtomically(const std::string& path, absl::string_view content) {
  OPENSET_RETURN_IF_ERROR(RefuseDevice(path));
  const std::string temporary = TemporaryName(path);
  OPENSET_RETURN_IF_ERROR(WriteNew(temporary, path, content, Lasting::kDurable));
  OPENSET_RETURN_IF_ERROR(RenameTo(temporary, path));
  return SyncNames(FolderOf(path), SyncOf::kRenamedName);
}

absl::Status ReserveFile(const std::string& temporary, const std::string& path) {
  return WriteNew(temporary, path, "", Lasting::kNonDurable);
}

absl::Status MoveFile(const std::string& file, const std::string& path) {
  if (const absl::Status status = RefuseDevice(path); !status.ok()) {
    Calls().Unlink(file);
    return status;
  }
  if (const absl::Status status = Sync(file, O_RDONLY, SyncOf::kWrittenFile); !status.ok()) {
    Calls().Unlink(file);
    return status;
  }
  OPENSET_RETURN_IF_ERROR(RenameTo(file, path));
  return SyncNames(FolderOf(path), SyncOf::kRenamedName);
}

absl::StatusOr<bool> CreateFileAtomically(const std::string& path, absl::string_view content,
                                          const std::string& temporaries) {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string temporary = TemporaryName(temporaries.empty() ? path : JoinPath(temporaries, name));
  OPENSET_RETURN_IF_ERROR(WriteNew(temporary, path, content, Lasting::kDurable));
  OPENSET_ASSIGN_OR_RETURN(const bool created, LinkTo(temporary, path));
  OPENSET_RETURN_IF_ERROR(SyncNames(FolderOf(path), SyncOf::kLinkedName));
  return created;
}

absl::Status WriteNonDurableFile(const std::string& path, absl::string_view content, const std::string& temporary) {
  OPENSET_RETURN_IF_ERROR(WriteNew(temporary, path, content, Lasting::kNonDurable));
  return RenameTo(temporary, path);
}

absl::StatusOr<bool> CreateNonDurableFile(const std::string& path, absl::string_view content,
                                          const std::string& temporary) {
  OPENSET_RETURN_IF_ERROR(WriteNew(temporary, path, content, Lasting::kNonDurable));
  return LinkTo(temporary, path);
}

absl::Status SyncFolder(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(path));
  for (const std::string& name : names) {
    const std::string file = JoinPath(path, name);
    struct stat info;
    const FolderOfPath folder(file);
    if (!folder.ok() || fstatat(folder.folder(), folder.name(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      return SystemError("look at", file);
    }
    if (S_ISREG(info.st_mode)) OPENSET_RETURN_IF_ERROR(Sync(file, O_RDONLY, SyncOf::kStagedFile));
  }
  return SyncNames(path, SyncOf::kStagedFolder);
}

absl::StatusOr<bool> MoveFolder(const std::string& folder, const std::string& target) {
  struct stat before, after;
  const bool is_there = StatFile(folder, &before) == 0;
  if (RetryInterrupted([&] { return Calls().Rename(folder, target); }) != 0) {
    const int error = errno;
    // Over NFS, it may have been renamed although the reply was lost.
    const bool moved =
        is_there && !FileExists(folder) && StatFile(target, &after) == 0 && after.st_ino == before.st_ino;
    if (!moved && (error == ENOTEMPTY || error == EEXIST || error == ENOTDIR)) return false;
    errno = error;
    if (!moved) return SystemError("move results to", target);
  }
  OPENSET_RETURN_IF_ERROR(SyncNames(FolderOf(target), SyncOf::kMovedFolder));
  return true;
}

std::string TemporaryName(const std::string& path) {
  static std::atomic<uint64_t> count{0};
  static const std::string* const machine = new std::string(absl::StrCat(HostName(), ".", ProcessSpace()));
  return absl::StrCat(path, ".tmp.", *machine, ".", getpid(), ".", count++);
}

}  // namespace openset

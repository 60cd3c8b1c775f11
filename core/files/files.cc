#include "core/files/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr size_t kFirstRead = 1 << 12;

absl::Status SystemError(absl::string_view what, const std::string& path) {
  return absl::UnavailableError(absl::StrCat("cannot ", what, " ", path, ": ", std::strerror(errno)));
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

absl::Status SyncDescriptorOf(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return SystemError("open", path);
  const bool ok = fsync(fd) == 0;
  const int error = errno;
  close(fd);
  errno = error;
  return ok ? absl::OkStatus() : SystemError("sync", path);
}

// Writes and syncs a new file; removes it if that fails.
absl::Status WriteDurably(const std::string& path, absl::string_view content) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return SystemError("create", path);
  absl::Status status;
  while (!content.empty() && status.ok()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written >= 0) {
      content.remove_prefix(written);
    } else if (errno != EINTR) {
      status = SystemError("write", path);
    }
  }
  if (status.ok() && fsync(fd) != 0) status = SystemError("sync", path);
  if (close(fd) != 0 && status.ok()) status = SystemError("close", path);
  if (!status.ok()) unlink(path.c_str());
  return status;
}

}  // namespace

std::string JoinPath(absl::string_view a, absl::string_view b) {
  return (std::filesystem::path(std::string(a)) / std::string(b)).string();
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::NotFoundError(absl::StrCat("cannot open ", path, ": ", std::strerror(errno)));
  const absl::Cleanup close_it = [fd] { close(fd); };
  struct stat info;
  if (fstat(fd, &info) != 0) return absl::DataLossError(absl::StrCat("cannot read ", path));
  if (S_ISDIR(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is a folder, not a file"));
  // Files that say no size (pipes, /proc) grow the buffer; so does the byte that tells that a file has ended.
  std::string content(std::max<size_t>(info.st_size, kFirstRead) + 1, '\0');
  size_t filled = 0;
  while (true) {
    const ssize_t got = read(fd, &content[filled], content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::DataLossError(absl::StrCat("cannot read ", path, ": ", std::strerror(errno)));
    if (got == 0) break;
    filled += got;
    if (filled == content.size()) content.resize(2 * content.size());
  }
  content.resize(filled);
  return content;
}

bool FileExists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

absl::Status MakeFolders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot make the folder ", path, ": ", error.message()));
}

absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    names.push_back(entry.path().filename().string());
  }
  if (error) return absl::NotFoundError(absl::StrCat("cannot list ", path, ": ", error.message()));
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status WriteFileAtomically(const std::string& path, absl::string_view content) {
  const std::string temporary = TemporaryName(path);
  OPENSET_RETURN_IF_ERROR(WriteDurably(temporary, content));
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    const absl::Status status = SystemError("rename to", path);
    unlink(temporary.c_str());
    return status;
  }
  return SyncDescriptorOf(FolderOf(path), O_RDONLY | O_DIRECTORY);
}

absl::StatusOr<bool> CreateFileAtomically(const std::string& path, absl::string_view content) {
  const std::string temporary = TemporaryName(path);
  OPENSET_RETURN_IF_ERROR(WriteDurably(temporary, content));
  bool created = link(temporary.c_str(), path.c_str()) == 0;
  const int error = errno;
  if (!created) {
    // Over NFS the link may have been made though its reply was lost: the link count tells.
    struct stat info;
    created = stat(temporary.c_str(), &info) == 0 && info.st_nlink == 2;
  }
  unlink(temporary.c_str());
  if (!created && error != EEXIST) {
    errno = error;
    return SystemError("link", path);
  }
  OPENSET_RETURN_IF_ERROR(SyncDescriptorOf(FolderOf(path), O_RDONLY | O_DIRECTORY));
  return created;
}

absl::Status SyncFolder(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(path));
  for (const std::string& name : names) {
    const std::string file = JoinPath(path, name);
    if (std::filesystem::is_regular_file(file)) OPENSET_RETURN_IF_ERROR(SyncDescriptorOf(file, O_RDONLY));
  }
  return SyncDescriptorOf(path, O_RDONLY | O_DIRECTORY);
}

std::string TemporaryName(const std::string& path) {
  static std::atomic<uint64_t> count{0};
  char host[256] = "host";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat(path, ".tmp.", host, ".", getpid(), ".", count++);
}

}  // namespace openset

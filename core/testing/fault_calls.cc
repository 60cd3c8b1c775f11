#include "core/testing/fault_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace openset {
namespace {

std::string ContentOf(int fd) {
  std::string content;
  char chunk[4096];
  for (off_t at = 0;;) {
    const ssize_t got = pread(fd, chunk, sizeof(chunk), at);
    if (got <= 0) return content;
    content.append(chunk, got);
    at += got;
  }
}

}  // namespace

int FallibleCalls::Open(const std::string& path, int flags, mode_t mode) {
  return Fails() ? -1 : SystemCalls::Open(path, flags, mode);
}
ssize_t FallibleCalls::Write(int fd, const char* bytes, size_t size) {
  return Fails() ? -1 : SystemCalls::Write(fd, bytes, size);
}
// Doesn't sync: a test doesn't need it, and it is slow.
int FallibleCalls::Sync(int /*fd*/, SyncOf /*what*/) { return Fails() ? -1 : 0; }
int FallibleCalls::Close(int fd) {
  const bool fails = Fails();
  return SystemCalls::Close(fd) != 0 || fails ? -1 : 0;
}
int FallibleCalls::Link(const std::string& from, const std::string& to) {
  return Fails() ? -1 : SystemCalls::Link(from, to);
}
int FallibleCalls::Rename(const std::string& from, const std::string& to) {
  return Fails() ? -1 : SystemCalls::Rename(from, to);
}
int FallibleCalls::Unlink(const std::string& path) { return Fails() ? -1 : SystemCalls::Unlink(path); }
int FallibleCalls::MakeFolder(const std::string& path, mode_t mode) {
  return Fails() ? -1 : SystemCalls::MakeFolder(path, mode);
}

bool FailingCalls::Fails() {
  const int64_t call = calls_++;
  if (fault_ != Fault::kError || call < at_ || (call > at_ && !for_ever_)) return false;
  errno = error_;
  return true;
}

ssize_t FailingCalls::Write(int fd, const char* bytes, size_t size) {
  const int64_t call = calls_;
  const bool is_short = fault_ == Fault::kShortWrite && (call == at_ || (call > at_ && for_ever_));
  return FallibleCalls::Write(fd, bytes, is_short ? std::min<size_t>(size, 1) : size);
}

UnsafeDisk::UnsafeDisk(std::string folder) : folder_(std::move(folder)) { Keep(folder_); }

UnsafeDisk::~UnsafeDisk() {
  for (const auto& [_, inode] : inodes_) close(inode.fd);
}

bool UnsafeDisk::Fails() {
  if (calls_++ < cut_at_) return false;
  errno = EIO;
  return true;
}

uint64_t UnsafeDisk::Keep(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return 0;
  if (inodes_.count(info.st_ino) == 0) {
    Inode inode;
    inode.fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    inode.is_folder = S_ISDIR(info.st_mode);
    inodes_[info.st_ino] = inode;
  }
  return info.st_ino;
}

UnsafeDisk::Names UnsafeDisk::NamesOf(const std::string& folder) {
  Names names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    names[entry.path().filename().string()] = Keep(entry.path().string());
  }
  return names;
}

int UnsafeDisk::Sync(int fd, SyncOf what) {
  if (Fails()) return -1;
  if (left_out_ == what) return 0;
  const std::string path = std::filesystem::read_symlink(absl::StrCat("/proc/self/fd/", fd)).string();
  Inode& inode = inodes_.at(Keep(path));
  inode.synced = true;
  if (inode.is_folder) {
    Names names = NamesOf(path);  // a reference, so that no entry of the map may move
    inode.names = std::move(names);
  } else {
    inode.content = ContentOf(inode.fd);
  }
  return 0;
}

int UnsafeDisk::Rename(const std::string& from, const std::string& to) {
  Keep(to);  // keeps the file that is replaced
  return FallibleCalls::Rename(from, to);
}
int UnsafeDisk::Unlink(const std::string& path) {
  Keep(path);
  return FallibleCalls::Unlink(path);
}

void UnsafeDisk::RestoreFile(uint64_t number, const std::string& target, RandomStream* random) const {
  const auto found = inodes_.find(number);
  std::string safe, now;
  if (found != inodes_.end()) {
    safe = found->second.content;
    now = ContentOf(found->second.fd);
  }
  std::string content = safe;
  if (safe != now) {
    switch (random->Below(4)) {
      case 0:  // what was safe
        break;
      case 1:
        content = now;
        break;
      case 2:  // a part
        content = now.substr(0, random->Below(now.size() + 1));
        break;
      default:  // the size, but not the bytes
        content = now.substr(0, random->Below(now.size() + 1));
        content.resize(now.size(), '\0');
    }
  }
  std::ofstream(target, std::ios::binary) << content;
}

void UnsafeDisk::RestoreFolder(uint64_t number, const std::string& current, const std::string& target,
                               RandomStream* random) const {
  std::filesystem::create_directories(target);
  const auto found = inodes_.find(number);
  const Names safe = found == inodes_.end() ? Names{} : found->second.names;
  // The names when the power was cut, synced or not.
  Names now;
  std::error_code error;
  if (!current.empty()) {
    for (const auto& entry : std::filesystem::directory_iterator(current, error)) {
      struct stat info;
      if (lstat(entry.path().c_str(), &info) == 0) now[entry.path().filename().string()] = info.st_ino;
    }
  }
  std::set<std::string> names;
  for (const auto& [name, _] : safe) names.insert(name);
  for (const auto& [name, _] : now) names.insert(name);
  for (const std::string& name : names) {
    const uint64_t safe_inode = safe.count(name) > 0 ? safe.at(name) : 0;
    const uint64_t now_inode = now.count(name) > 0 ? now.at(name) : 0;
    const uint64_t inode = safe_inode == now_inode || random->Below(2) == 0 ? safe_inode : now_inode;
    if (inode == 0) continue;
    const auto kept = inodes_.find(inode);
    // Its current path, if any: the names of a folder are read there.
    const std::string path = inode == now_inode ? absl::StrCat(current, "/", name) : "";
    const bool is_folder = kept != inodes_.end() ? kept->second.is_folder : std::filesystem::is_directory(path);
    const std::string restored = absl::StrCat(target, "/", name);
    if (is_folder) {
      RestoreFolder(inode, path, restored, random);
    } else if (kept == inodes_.end()) {
      // A file that was never synced: its name and some of its bytes are kept.
      std::ifstream file(path, std::ios::binary);
      const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      std::ofstream(restored, std::ios::binary) << content.substr(0, random->Below(content.size() + 1));
    } else {
      RestoreFile(inode, restored, random);
    }
  }
}

void UnsafeDisk::Restore(const std::string& target, RandomStream* random) const {
  struct stat info;
  stat(folder_.c_str(), &info);
  RestoreFolder(info.st_ino, folder_, target, random);
}

}  // namespace openset

// A small disk that a test can fill: a tmpfs mounted on a folder, visible only to this process and its children.
#ifndef OPENSET_CORE_TESTING_SMALL_DISK_H_
#define OPENSET_CORE_TESTING_SMALL_DISK_H_

#include <sched.h>
#include <sys/mount.h>
#include <sys/types.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace openset {

// Makes later mounts of this process invisible to others. Use it in a child that a test forks, because it can't be
// undone. Returns false if the process may not do so (it is not root, and user namespaces are not allowed).
inline bool EnterMountNamespace() {
  if (unshare(CLONE_NEWNS) != 0) {
    const uid_t user = getuid();
    const gid_t group = getgid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    // Maps the user and the group to themselves; otherwise no file could be created.
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << user << " " << user << " 1";
    std::ofstream("/proc/self/gid_map") << group << " " << group << " 1";
  }
  mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  return true;
}

class SmallDisk {
 public:
  // `folder` exists.
  SmallDisk(std::string folder, int kilobytes) : folder_(std::move(folder)) {
    is_there_ = mount("tmpfs", folder_.c_str(), "tmpfs", 0, SizeOf(kilobytes).c_str()) == 0;
  }
  // Processes that still use the disk keep it.
  ~SmallDisk() {
    if (is_there_) umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  // Whether it was mounted.
  bool is_there() const { return is_there_; }
  // Returns false if it contains more.
  bool Resize(int kilobytes) const {
    return mount("tmpfs", folder_.c_str(), "tmpfs", MS_REMOUNT, SizeOf(kilobytes).c_str()) == 0;
  }

 private:
  static std::string SizeOf(int kilobytes) { return absl::StrCat("size=", kilobytes, "k"); }

  const std::string folder_;
  bool is_there_;
};

// A file that nobody can open, not even root. Precondition: EnterMountNamespace().
class UnreadableFile {
 public:
  // Makes the file.
  explicit UnreadableFile(std::string path) : path_(std::move(path)) {
    std::ofstream(path_) << "nobody reads this";
    // The system refuses to read this one.
    is_there_ = mount("/proc/sys/vm/drop_caches", path_.c_str(), nullptr, MS_BIND, nullptr) == 0;
  }
  // Removes it.
  ~UnreadableFile() {
    if (is_there_) umount2(path_.c_str(), MNT_DETACH);
    unlink(path_.c_str());
  }
  UnreadableFile(const UnreadableFile&) = delete;
  UnreadableFile& operator=(const UnreadableFile&) = delete;

  bool is_there() const { return is_there_ && !std::ifstream(path_).is_open(); }

 private:
  const std::string path_;
  bool is_there_;
};

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_SMALL_DISK_H_

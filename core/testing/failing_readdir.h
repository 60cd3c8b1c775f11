// Folders whose listing fails in the middle, as on a broken disk or a network file system whose server has lost the
// folder. Include it in the test's own file: it replaces the C library's readdir(), by which std::filesystem lists
// folders.
#ifndef OPENSET_CORE_TESTING_FAILING_READDIR_H_
#define OPENSET_CORE_TESTING_FAILING_READDIR_H_

#include <dirent.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

namespace openset {

// While it exists, listing the folder `path` fails with EIO after `entries` entries; "." and ".." count. For tests with
// one thread.
class FailingReaddir {
 public:
  FailingReaddir(const std::string& path, int entries) : entries_(entries) {
    stat(path.c_str(), &folder_);
    now_ = this;
  }
  ~FailingReaddir() { now_ = nullptr; }
  FailingReaddir(const FailingReaddir&) = delete;
  FailingReaddir& operator=(const FailingReaddir&) = delete;

  static bool FailsNow(DIR* folder) {
    struct stat info;
    if (now_ == nullptr || fstat(dirfd(folder), &info) != 0) return false;
    if (info.st_dev != now_->folder_.st_dev || info.st_ino != now_->folder_.st_ino) return false;
    return now_->entries_-- <= 0;
  }

 private:
  static inline FailingReaddir* now_ = nullptr;
  struct stat folder_ = {};
  int entries_;
};

}  // namespace openset

extern "C" dirent* readdir(DIR* folder) {
  static_assert(sizeof(dirent) == sizeof(dirent64));
  if (!openset::FailingReaddir::FailsNow(folder)) return reinterpret_cast<dirent*>(readdir64(folder));
  errno = EIO;
  return nullptr;
}

#endif  // OPENSET_CORE_TESTING_FAILING_READDIR_H_

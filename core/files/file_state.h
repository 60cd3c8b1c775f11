// What tells one state of a file or folder from another, for what is remembered of it.
#ifndef OPENSET_CORE_FILES_FILE_STATE_H_
#define OPENSET_CORE_FILES_FILE_STATE_H_

#include <cstdint>
#include <ctime>
#include <string>

namespace openset {

struct FileState {
  // Seconds after a change within which another one could bear the same time, that of one tick of the file system's
  // clock.
  static constexpr int kSettled = 2;

  // Device, inode, size and the times of the last change of content and of inode, to the nanosecond; "" if there is
  // no such file. Any write, rename or replacement changes it; of a folder, any file that comes, goes or gets another
  // name.
  std::string text;
  int64_t bytes = 0;
  int64_t changed_at_seconds = 0;

  // Whether what is read from `started` on may be remembered under `text`, if that is the same afterwards.
  bool HadSettled(std::time_t started) const { return changed_at_seconds + kSettled <= started; }
};

// Follows links.
FileState StateOf(const std::string& path);
// `folder`: a descriptor, which `name` starts from.
FileState StateOf(int folder, const std::string& name);

// ~/.cache/openset/NAME, where this user's runs remember such things; "" where HOME is not set.
std::string UserCacheFolder(const std::string& name);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FILE_STATE_H_

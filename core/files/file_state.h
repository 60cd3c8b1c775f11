// Identifies the state of a file or folder, so that cached facts about it can be checked.
#ifndef OPENSET_CORE_FILES_FILE_STATE_H_
#define OPENSET_CORE_FILES_FILE_STATE_H_

#include <cstdint>
#include <ctime>
#include <string>

namespace openset {

struct FileState {
  // Seconds after a change within which another change could get the same timestamp: one tick of the file system's
  // clock.
  static constexpr int kSettled = 2;

  // Device, inode, size and the times of the last change of content and of inode, in nanoseconds; "" if there is no
  // such file. Any write, rename or replacement changes it; for a folder, any file that is added, removed or renamed.
  std::string text;
  int64_t bytes = 0;
  int64_t changed_at_seconds = 0;

  // Whether facts that are read from time `started` on may be cached under `text`, provided that `text` is the same
  // afterwards.
  bool HadSettled(std::time_t started) const { return changed_at_seconds + kSettled <= started; }
};

// Follows links.
FileState StateOf(const std::string& path);
// `name` is relative to the descriptor `folder`.
FileState StateOf(int folder, const std::string& name);

// ~/.cache/openset/NAME, where this user's runs cache such facts; "" if HOME is not set.
std::string UserCacheFolder(const std::string& name);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FILE_STATE_H_

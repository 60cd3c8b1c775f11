// Temporary folders, and the names of temporary files.
#ifndef OPENSET_CORE_FILES_TEMPORARY_FOLDER_H_
#define OPENSET_CORE_FILES_TEMPORARY_FOLDER_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/machine/machine.h"

namespace openset {

// ---- Parses the names that TemporaryName() (core/files/files.h) returns.

// The process that created the file or folder with this name, NAME.tmp.<host>.<process space>.<pid>.<number>; absent if
// TemporaryName() can't have returned it. `name` is a name, not a path.
std::optional<ProcessName> OwnerOfTemporary(absl::string_view name);

// ---- A temporary folder, outside of any store.

// A new folder below TMPDIR, else /tmp, that only this user can read. Its name is unpredictable, so that nobody
// can put a link or a file in its place. The destructor removes it with its content.
class TemporaryFolder {
 public:
  // `purpose` is a part of its name: "openset-<purpose>-x3Fg7a". Errors: kUnavailable with the system's reason.
  static absl::StatusOr<TemporaryFolder> Make(absl::string_view purpose);

  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;  // "" of one that was moved from
};

}  // namespace openset

#endif  // OPENSET_CORE_FILES_TEMPORARY_FOLDER_H_

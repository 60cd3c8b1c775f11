// Removes a file or folder without following links.
#ifndef OPENSET_CORE_FILES_REMOVE_TREE_H_
#define OPENSET_CORE_FILES_REMOVE_TREE_H_

#include <string>
#include <utility>

#include "absl/status/status.h"

namespace openset {

// Removes the entry `name` of a folder, and everything below it. Removes a link itself, never its target, even if
// somebody replaces a folder by a link meanwhile. `folder` is a descriptor of the folder; `name` has no '/'. OK if
// there is no such entry. Errors: kUnavailable with the name and the system's message; then a part may be left.
absl::Status RemoveTree(int folder, const std::string& name);

// The same by the path of the entry. Links in the folders above it are followed, except below closed folders
// (core/files/system_calls.h). Errors: also kPermissionDenied for such a link.
absl::Status RemoveTree(const std::string& path);

// ---- Removes a folder at the end of a scope, so that an error leaves nothing behind.

// The destructor removes `folder` with its content; it does nothing if the folder has been moved or removed before.
class FolderRemover {
 public:
  explicit FolderRemover(std::string folder) : folder_(std::move(folder)) {}
  ~FolderRemover() { RemoveTree(folder_).IgnoreError(); }
  FolderRemover(const FolderRemover&) = delete;
  FolderRemover& operator=(const FolderRemover&) = delete;

  const std::string& folder() const { return folder_; }

 private:
  const std::string folder_;
};

}  // namespace openset

#endif  // OPENSET_CORE_FILES_REMOVE_TREE_H_

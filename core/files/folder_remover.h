// Removes a folder at the end of a scope, so that an error leaves nothing behind.
#ifndef OPENSET_CORE_FILES_FOLDER_REMOVER_H_
#define OPENSET_CORE_FILES_FOLDER_REMOVER_H_

#include <string>
#include <utility>

#include "core/files/remove_tree.h"

namespace openset {

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

#endif  // OPENSET_CORE_FILES_FOLDER_REMOVER_H_

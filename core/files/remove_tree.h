// Removing a file or folder without following links.
#ifndef OPENSET_CORE_FILES_REMOVE_TREE_H_
#define OPENSET_CORE_FILES_REMOVE_TREE_H_

#include <string>

#include "absl/status/status.h"

namespace openset {

// Removes the entry `name` of a folder, and all that is below it. A link is removed itself, never what it leads to,
// also where somebody puts one in the place of a folder meanwhile. `folder` is a descriptor of the folder, `name` has
// no
// '/'. Fine if there is no such entry. Errors: kUnavailable with the name and the system's reason; the rest is then
// still there, or a part of it.
absl::Status RemoveTree(int folder, const std::string& name);

// The same by the path of the entry. Links in the folders above it are followed.
absl::Status RemoveTree(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_REMOVE_TREE_H_

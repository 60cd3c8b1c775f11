#include "core/files/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/files/remove_tree.h"

namespace openset {

absl::StatusOr<TemporaryFolder> TemporaryFolder::Make(absl::string_view purpose) {
  std::error_code error;
  const std::filesystem::path above = std::filesystem::temp_directory_path(error);
  if (error) return absl::UnavailableError(absl::StrCat("no folder for temporary files: ", error.message()));
  std::string path = (above / absl::StrCat("openset-", purpose, "-XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot make a folder in ", above.string(), ": ", std::strerror(errno)));
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) RemoveTree(path_).IgnoreError();
}

}  // namespace openset

#include "core/files/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/files/remove_tree.h"

namespace openset {
namespace {

constexpr absl::string_view kMark = ".tmp.";

}  // namespace

std::optional<ProcessName> OwnerOfTemporary(absl::string_view name) {
  std::optional<ProcessName> other;
  // The host, and the name before the mark, may contain the mark too. If any reading of the name makes it ours, it is
  // ours.
  for (size_t mark = name.find(kMark, 1); mark != absl::string_view::npos; mark = name.find(kMark, mark + 1)) {
    const std::optional<ProcessName> owner = ParseProcessName(name.substr(mark + kMark.size()));
    if (owner.has_value() && owner->IsHere()) return owner;
    if (!other.has_value()) other = owner;
  }
  return other;
}

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

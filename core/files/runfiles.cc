#include "core/files/runfiles.h"

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"

namespace openset {

std::string ProgramPath() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

absl::StatusOr<std::string> RunfilesFolder() {
  for (const char* variable : {"TEST_SRCDIR", "RUNFILES_DIR"}) {
    const char* folder = std::getenv(variable);
    if (folder != nullptr && FileExists(JoinPath(folder, "openset"))) return std::string(folder);
  }
  const std::string program = ProgramPath();
  const std::string beside = absl::StrCat(program, ".runfiles");
  if (FileExists(beside)) return beside;
  for (std::filesystem::path above = program; above.has_relative_path(); above = above.parent_path()) {
    if (above.extension() == ".runfiles") return above.string();
  }
  return absl::NotFoundError(absl::StrCat("cannot find the files that belong to ", program, " (", beside, ")"));
}

}  // namespace openset

#include "data/fetch/unpack.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/process/run_program.h"
#include "core/status_macros.h"

namespace openset {

absl::Status MoveInto(const std::string& from, const std::string& to) {
  OPENSET_RETURN_IF_ERROR(MakeFolders(to));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(from));
  for (const std::string& name : names) {
    const std::string old_path = JoinPath(from, name), new_path = JoinPath(to, name);
    if (std::filesystem::is_directory(old_path) && std::filesystem::is_directory(new_path)) {
      OPENSET_RETURN_IF_ERROR(MoveInto(old_path, new_path));
      continue;
    }
    std::error_code error;
    std::filesystem::rename(old_path, new_path, error);
    if (error) return absl::UnavailableError(absl::StrCat("cannot make ", new_path, ": ", error.message()));
  }
  return absl::OkStatus();
}

absl::Status Unpack(const std::string& archive, Download::Unpack format, const std::string& folder) {
  const std::string fresh = TemporaryName(folder);
  const absl::Cleanup remove = [&fresh] {
    std::error_code ignored;
    std::filesystem::remove_all(fresh, ignored);
  };
  OPENSET_RETURN_IF_ERROR(MakeFolders(fresh));
  const absl::Status status =
      format == Download::ZIP
          ? RunProgram({"unzip", "-q", "-o", archive, "-d", fresh})
          : RunProgram({"tar", "--extract", "--no-same-owner", "--file", archive, "--directory", fresh});
  if (absl::IsAborted(status)) {
    return absl::DataLossError(absl::StrCat(archive, ": cannot be unpacked: ", status.message()));
  }
  OPENSET_RETURN_IF_ERROR(status);
  return MoveInto(fresh, folder);
}

}  // namespace openset

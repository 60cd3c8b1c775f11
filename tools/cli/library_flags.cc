#include "tools/cli/library_flags.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"
#include "tools/cli/user_path.h"

ABSL_FLAG(
    std::string, library, "",
    "Folders, separated by commas, with any of methods/, presets/, tasks/, catalog/ and specs/ (or these where the "
    "source tree has them), whose names stand beside those that come with the program, like those of the folders "
    "in the environment's OPENSET_LIBRARY, of the spec's own folder and, where that is called specs, of the one that "
    "it "
    "lies in.");

namespace openset {

absl::StatusOr<SpecFolders> SpecFoldersFromFlags() {
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  SpecFolders folders = SpecFoldersBelow(JoinPath(runfiles, "openset"));
  const char* variable = std::getenv("OPENSET_LIBRARY");
  for (const auto& [name, list] : {std::pair<std::string, std::string>{"OPENSET_LIBRARY", variable ? variable : ""},
                                   {"--library", absl::GetFlag(FLAGS_library)}}) {
    for (absl::string_view folder : absl::StrSplit(list, ',', absl::SkipEmpty())) {
      const std::string path = UserPath(std::string(folder));
      const SpecFolders more = SpecFoldersBelow(path);
      if (more.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(name, ": ", path,
                                                       FileExists(path) ? " has" : " is not there, with",
                                                       " none of methods/, presets/, tasks/, catalog/ and specs/"));
      }
      AddSpecFolders(more, &folders);
    }
  }
  return folders;
}

}  // namespace openset

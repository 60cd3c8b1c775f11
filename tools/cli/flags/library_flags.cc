

#include "tools/cli/flags/library_flags.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"

namespace openset {

std::string UserPath(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  return folder == nullptr ? path : JoinPath(folder, path);
}

}  // namespace openset

ABSL_FLAG(std::string, library, "",
          "Libraries, separated by commas: folders with any of methods/, presets/, tasks/, catalog/ and specs/ (or the "
          "same folders where the source tree has them). openset knows their names in addition to its own. "
          "The current folder, the folders in the environment variable OPENSET_LIBRARY, the spec's own folder and, if "
          "that is called specs, its parent are libraries too.");

namespace openset {
namespace {

// The libraries in the current folder, where `data describe` and `task new` write. openset's source tree doesn't count:
// its files come with the program, which may be older.
SpecFolders OfCurrentFolder() {
  const std::string folder = UserPath(".");
  return FileExists(JoinPath(folder, "experiments/methods")) ? SpecFolders{} : SpecFoldersBelow(folder);
}

}  // namespace

absl::StatusOr<SpecFolders> SpecFoldersFromFlags() {
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  SpecFolders folders = SpecFoldersBelow(JoinPath(runfiles, "openset"));
  AddSpecFolders(OfCurrentFolder(), &folders);
  const char* variable = std::getenv("OPENSET_LIBRARY");
  for (const auto& [name, list] : {std::pair<std::string, std::string>{"OPENSET_LIBRARY", variable ? variable : ""},
                                   {"--library", absl::GetFlag(FLAGS_library)}}) {
    for (absl::string_view folder : absl::StrSplit(list, ',', absl::SkipEmpty())) {
      const std::string path = UserPath(std::string(folder));
      const SpecFolders more = SpecFoldersBelow(path);
      if (more.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(name, ": ", path,
                                                       FileExists(path) ? " has" : " doesn't exist, or has",
                                                       " none of methods/, presets/, tasks/, catalog/ and specs/"));
      }
      AddSpecFolders(more, &folders);
    }
  }
  return folders;
}

}  // namespace openset

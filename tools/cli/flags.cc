#include "tools/cli/flags.h"

#include <cstdlib>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"
#include "experiments/spec/expand.h"
#include "tools/cli/deploy_flags.h"
#include "tools/cli/user_path.h"

ABSL_FLAG(
    std::string, library, "",
    "Folders, separated by commas, with any of methods/, presets/, tasks/, catalog/ and specs/ (or these where the "
    "source tree has them), whose names stand beside those that come with the program, like those of the folders "
    "in the environment's OPENSET_LIBRARY and of the spec's own folder.");

ABSL_FLAG(std::string, redo, "",
          "Make results again that are in the store: 'changed' (made by components whose sources are others by now), "
          "'all', the name of a method of the study (what only its trials need), or 'failed' (trainings that failed "
          "start over, instead of going on from their last epoch). With `run` they are removed when it begins; `plan` "
          "shows what it would do.");

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

absl::StatusOr<StudyOptions> StudyOptionsFromFlags() {
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, DevicesFromFlags());
  StudyOptions options;
  options.expand.default_device = devices.default_device;
  options.expand.device_kind = devices.kind;
  OPENSET_ASSIGN_OR_RETURN(options.data_folders, DataFoldersFromFlags());
  options.redo = absl::GetFlag(FLAGS_redo);
  return options;
}

absl::StatusOr<std::unique_ptr<Study>> LoadStudy(const std::string& spec) {
  OPENSET_ASSIGN_OR_RETURN(const Store store, StoreFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, SpecFoldersFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const StudyOptions options, StudyOptionsFromFlags());
  const std::string name = absl::EndsWith(spec, ".textproto") ? UserPath(spec) : spec;
  return Study::Load(name, folders, store, options);
}

std::string SearchText(const Study& study) {
  return absl::StrCat(study.plan().trials.size() - study.ReportedTrials().size(),
                      " of them are candidates of searches; tuned trials after them: ", study.waiting());
}

}  // namespace openset

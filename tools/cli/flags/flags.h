// Flags that several commands share, and the objects that are made from them.
#ifndef OPENSET_TOOLS_CLI_FLAGS_FLAGS_H_
#define OPENSET_TOOLS_CLI_FLAGS_FLAGS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/store/store.h"
#include "experiments/study/study.h"
#include "tools/cli/command.h"
#include "tools/cli/flags/deploy_flags.h"
#include "tools/cli/flags/library_flags.h"
#include "tools/cli/flags/user_path.h"

namespace openset {

// Whether this process is a job that `openset run --engine=slurm` has submitted.
bool IsSlurmTask();

// Adds --set, --seeds and --methods, which override a study's spec, and --max_trials.
void AddChangeFlags(Command* command);

// Returns kInvalidArgument if --set, --seeds or --methods is given. For commands that got something other than a study;
// `what` names it: "files", "a bundle".
absl::Status RefuseChangeFlags(const std::string& what);

// Returns the options for the devices of --devices, the data folders of --data, and what overrides the spec. Errors:
// also kNotFound if a folder of --data is missing.
absl::StatusOr<StudyOptions> StudyOptionsFromFlags();

// Loads the study that `argument` of the command line names, with the changes that the flags make. `argument` is the
// path of a .textproto; a name in the libraries, or of what `openset score` has measured; NAME for NAME.textproto in
// the user's folder; or a folder with a spec and its bundle (study_folder.h). Errors: also kInvalidArgument if NAME is
// in a library and in the user's folder, unless one file is a copy of the other.
absl::StatusOr<std::unique_ptr<Study>> LoadStudy(const std::string& argument, StoreUse use = StoreUse::kRead);

// "180 of them are candidates of searches; tuned trials after them: 6". Precondition: trials wait for a search.
std::string SearchText(const Study& study);

// "1 trial", "3 trials".
std::string TrialCount(int trials);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_FLAGS_H_

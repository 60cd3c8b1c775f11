// Flags that several commands share, and what they make.
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

// Whether Slurm has started this process, for an action of a run that was submitted.
bool IsSlurmTask();

// Adds --set, --seeds and --methods, which lay something over a study's spec, and --max_trials.
void AddChangeFlags(Command* command);

// kInvalidArgument where --set, --seeds or --methods is given for something that is no study: "files", "a bundle".
absl::Status RefuseChangeFlags(const std::string& what);

// How --devices lets experiments be expanded, where --data lets data sets be looked at, and what is laid over the spec.
// Errors: also kNotFound for a folder of --data that is not there.
absl::StatusOr<StudyOptions> StudyOptionsFromFlags();

// The study of a spec that is given on the command line, as the flags want it: a path of a .textproto; a name of the
// libraries', or of what `openset score` has measured; NAME for NAME.textproto in the user's folder; or a
// folder with a spec and its bundle (study_folder.h). Errors: also kInvalidArgument for a NAME that is both, unless one
// file is a copy of the other.
absl::StatusOr<std::unique_ptr<Study>> LoadStudy(const std::string& argument, StoreUse use = StoreUse::kRead);

// "180 of them are candidates of searches; tuned trials after them: 6". Precondition: some are waiting.
std::string SearchText(const Study& study);

// "1 trial", "3 trials".
std::string TrialCount(int trials);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_FLAGS_H_

#include "tools/cli/flags/flags.h"

#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/progress_line.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/plan/halving.h"
#include "experiments/spec/resolve/expand.h"
#include "tools/cli/flags/deploy_flags.h"
#include "tools/cli/flags/study_folder.h"
#include "tools/cli/flags/user_path.h"
#include "tools/cli/score/kept_request.h"
#include "tools/cli/score/score_experiment.h"

ABSL_FLAG(std::string, redo, "",
          "Make results in the store again: 'changed' (made by components whose source code has changed since), 'all', "
          "the name of a method of the study (results that only its trials need), or 'failed' (trainings that failed "
          "start over instead of continuing from their saved state). `run` removes these results when it begins; "
          "`plan` shows what it would do.");

ABSL_FLAG(std::string, only, "",
          "Which of the trials without a record to run: 'failed' (one of their actions failed before), 'missing' (none "
          "failed). 'changed': do what --redo=changed does, and nothing else. Default: all trials without a record.");

ABSL_FLAG(std::string, slurm_task, "", "Set in the jobs that --engine=slurm submits: the file of their array.");

ABSL_FLAG(std::string, set, "",
          "PATH=VALUE: set a field of every method that has it (training.epochs=5, loss.open_auc.lambda=0.2) or of the "
          "study (train_limit_per_class=100). Overrides the spec; may be given several times. Records say what was "
          "overridden, and the report has its own folder.");
ABSL_FLAG(std::string, seeds, "", "Seeds instead of the spec's: 0..4, or 0,3,7..9.");
ABSL_FLAG(std::vector<std::string>, methods, {},
          "Methods, separated by commas, instead of the spec's. With `score`, empty: all that need no training.");

ABSL_FLAG(int64_t, max_trials, openset::kMostTrials,
          "Refuse a study that would make more trials, or more candidates of searches, than this.");

namespace openset {
namespace {

// The folders that were given, without the default ones.
absl::Status CheckDataFolders() {
  OPENSET_ASSIGN_OR_RETURN(const Deployment deployment, DeploymentFromFlags());
  for (const std::string& folder : deployment.spec.data_folder()) {
    std::error_code error;
    if (std::filesystem::is_directory(folder, error)) continue;
    const std::string where =
        absl::c_linear_search(deployment.flags, "data") ? "--data" : deployment.Where("data_folder");
    return absl::NotFoundError(absl::StrCat(where, ": there is no folder ", folder));
  }
  return absl::OkStatus();
}

// "small" for ./small.textproto, or for the study "small" in the libraries.
absl::StatusOr<std::string> SpecByName(const std::string& name, const SpecFolders& folders) {
  const std::string own = UserPath(absl::StrCat(name, ".textproto"));
  if (absl::EndsWith(name, ".textproto")) return UserPath(name);
  if (name.empty() || !FileExists(own)) return name;
  for (const std::string& folder : folders.specs) {
    const absl::StatusOr<std::string> content =
        ReadFile(JoinPath(folder, absl::StrCat(name, ".textproto")), kMaxTextBytes);
    if (!content.ok()) continue;
    if (*content == ReadFile(own, kMaxTextBytes).value_or("")) return name;
    return absl::InvalidArgumentError(absl::StrCat("'", name, "' may be ", own, " or the study of that name in ",
                                                   folder, ": use '", name, ".textproto' for yours, or give a path"));
  }
  return own;
}

// Applies the submitter's choice of actions in a pilot.
absl::Status SelectForPilot(const Store& store, StudyOptions* options) {
  OPENSET_ASSIGN_OR_RETURN(const SlurmArray array, ThisArray(absl::GetFlag(FLAGS_slurm_task)));
  OPENSET_ASSIGN_OR_RETURN(const SlurmLaunch launch, LoadLaunch(store, array.launch()));
  if (launch.only_these()) options->only_records = {launch.record().begin(), launch.record().end()};
  return absl::OkStatus();
}

}  // namespace

bool IsSlurmTask() { return !absl::GetFlag(FLAGS_slurm_task).empty(); }

void AddChangeFlags(Command* command) {
  for (const char* flag : {"set", "seeds", "methods", "max_trials"}) command->flags.push_back(flag);
  command->repeated_flags.push_back("set");
}

absl::Status RefuseChangeFlags(const std::string& what) {
  for (const auto& [flag, given] : {std::pair{"set", !absl::GetFlag(FLAGS_set).empty()},
                                    {"seeds", !absl::GetFlag(FLAGS_seeds).empty()},
                                    {"methods", !absl::GetFlag(FLAGS_methods).empty()}}) {
    if (given) return absl::InvalidArgumentError(absl::StrCat("--", flag, ": is for a study, not for ", what));
  }
  return absl::OkStatus();
}

absl::StatusOr<StudyOptions> StudyOptionsFromFlags() {
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, DevicesFromFlags());
  StudyOptions options;
  options.expand.default_device = devices.default_device;
  options.expand.device_kind = devices.kind;
  options.expand.max_trials = absl::GetFlag(FLAGS_max_trials);
  OPENSET_ASSIGN_OR_RETURN(options.data_folders, DataFoldersFromFlags());
  OPENSET_RETURN_IF_ERROR(CheckDataFolders());
  if (!IsSlurmTask()) {  // otherwise the submitter has removed what runs again, and has chosen the records
    options.redo = absl::GetFlag(FLAGS_redo);
    options.only = absl::GetFlag(FLAGS_only);
  }
  const auto line = std::make_shared<ProgressLine>("images", isatty(STDERR_FILENO) != 0, &std::cerr);
  options.progress = [line](const std::string& what, int64_t done, int64_t total) { line->Update(what, done, total); };
  options.changes.set = absl::StrSplit(absl::GetFlag(FLAGS_set), '\n', absl::SkipEmpty());
  options.changes.seeds = absl::GetFlag(FLAGS_seeds);
  options.changes.methods = absl::GetFlag(FLAGS_methods);
  return options;
}

absl::StatusOr<std::unique_ptr<Study>> LoadStudy(const std::string& argument, StoreUse use) {
  OPENSET_ASSIGN_OR_RETURN(const std::string spec, SpecOfStudyFolder(argument));
  OPENSET_ASSIGN_OR_RETURN(const Store store, StoreFromFlags(use));
  OPENSET_ASSIGN_OR_RETURN(SpecFolders folders, SpecFoldersFromFlags());
  OPENSET_RETURN_IF_ERROR(AddCarriedLibrary(&folders));
  OPENSET_ASSIGN_OR_RETURN(StudyOptions options, StudyOptionsFromFlags());
  if (IsSlurmTask()) OPENSET_RETURN_IF_ERROR(SelectForPilot(store, &options));
  // The name of a study that `openset score` made.
  if (const absl::StatusOr<ScoreRequest> request = FindScoreRequest(store, spec);
      request.ok() && spec.find('/') == std::string::npos) {
    OPENSET_ASSIGN_OR_RETURN(ScoreExperiment score, MakeScoreExperiment(*request, folders));
    return Study::Make(std::move(score.experiment), store, options);
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string name, SpecByName(spec, folders));
  return Study::Load(name, folders, store, options);
}

std::string TrialCount(int trials) { return absl::StrCat(trials, trials == 1 ? " trial" : " trials"); }

std::string SearchText(const Study& study) {
  const std::string text =
      absl::StrCat(study.plan().trials.size() - study.ReportedTrials().size(),
                   " of them are candidates of searches; tuned trials after them: ", study.waiting());
  std::string undecided;
  for (const std::string& line : study.UndecidedLines()) absl::StrAppend(&undecided, ". ", line);
  for (const PlannedSearch& planned : study.plan().searches) {
    const TrialSearch& search = planned.search;
    if (search.rungs.empty()) continue;
    const std::vector<size_t> sizes = RungSizes(search);
    std::vector<std::string> rungs;
    for (size_t r = 0; r < sizes.size(); ++r) {
      rungs.push_back(absl::StrCat(sizes[r], " after ", search.rungs[r], search.rungs[r] == 1 ? " epoch" : " epochs"));
    }
    return absl::StrCat(text, "; of each search are measured ", absl::StrJoin(rungs, ", "), undecided);
  }
  return text + undecided;
}

}  // namespace openset

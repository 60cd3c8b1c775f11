#include "tools/cli/run/slurm_run.h"

#include <iostream>
#include <set>
#include <utility>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"

ABSL_FLAG(
    bool, detach, false,
    "With --engine=slurm: submit pilots for the actions that can start now, and exit. Pilots submit further pilots.");
ABSL_DECLARE_FLAG(std::string, only);
ABSL_DECLARE_FLAG(std::string, redo);

namespace openset {
namespace {

// The arguments of this process, without the program.
std::vector<std::string> Arguments() {
  const std::string line = ReadFile("/proc/self/cmdline").value_or("");
  std::vector<std::string> words = absl::StrSplit(line, '\0');
  if (!words.empty() && words.back().empty()) words.pop_back();
  if (!words.empty()) words.erase(words.begin());
  return words;
}

PilotOptions OptionsOf(const DeploySpec& deploy, const ActionMemory& memory) {
  PilotOptions options;
  options.submit.slurm = deploy.slurm();
  options.memory = memory;
  options.most = deploy.slurm().pilots();
  options.retries = deploy.retries();
  return options;
}

// The recorded failures in the store.
absl::StatusOr<FailuresBefore> FailuresIn(const Store& store) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> keys, store.KeysOfFailures());
  FailuresBefore failures;
  for (const std::string& key : keys) {
    OPENSET_ASSIGN_OR_RETURN(const int count, store.CountFailures(key));
    if (count > 0) failures[key] = count;
  }
  return failures;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SlurmRun>> SlurmRun::Launcher(const Study& study, const DeploySpec& deploy,
                                                             const ActionMemory& memory, EngineObserver* observer) {
  PilotOptions options = OptionsOf(deploy, memory);
  options.submit.experiment = study.name();
  options.submit.command = Arguments();
  options.program = ProgramPath();
  OPENSET_ASSIGN_OR_RETURN(options.runfiles, RunfilesFolder());
  if (!deploy.worker().empty()) options.other_programs.push_back(deploy.worker());
  options.laid_over = study.experiment().laid_over;
  options.only_these = !absl::GetFlag(FLAGS_only).empty() || !absl::GetFlag(FLAGS_redo).empty();
  OPENSET_ASSIGN_OR_RETURN(options.failures_before, FailuresIn(study.store()));
  return std::unique_ptr<SlurmRun>(new SlurmRun(study, deploy, std::move(options), observer));
}

absl::StatusOr<std::unique_ptr<SlurmRun>> SlurmRun::Pilot(const Study& study, const DeploySpec& deploy,
                                                          const ActionMemory& memory, const std::string& file) {
  OPENSET_ASSIGN_OR_RETURN(const SlurmArray array, ThisArray(file));
  OPENSET_ASSIGN_OR_RETURN(const SlurmLaunch launch, LoadLaunch(study.store(), array.launch()));
  std::set<std::string> gone(launch.record().begin(), launch.record().end());
  const size_t records = gone.size();
  for (const Action& action : study.plan().actions) gone.erase(action.key);
  if (!gone.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the study, or a file that it uses, has changed since this job was submitted: ", gone.size(),
                     " of its ", records, " records are no longer part of the study; submit it again"));
  }
  PilotOptions options = OptionsOf(deploy, memory);
  options.submit.command = Arguments();
  options.submit.command.insert(options.submit.command.begin(), ProgramPath());
  OPENSET_ASSIGN_OR_RETURN(options, OptionsOfPilot(study.store(), array, std::move(options)));
  std::unique_ptr<SlurmRun> run(new SlurmRun(study, deploy, std::move(options), /*observer=*/nullptr));
  run->seat_ = array.seat();
  run->is_pilot_ = true;
  return run;
}

void SlurmRun::SetUp(ExecuteOptions* execute, LocalEngineOptions* engine) {
  execute->helpers = &pilots_;
  if (!is_pilot_) {
    BeLauncher(options_, execute);
    execute->look = absl::Seconds(slurm_.poll_seconds());
    if (absl::GetFlag(FLAGS_detach)) execute->patience = absl::ZeroDuration();
    return;
  }
  BePilot(study_.plan(), seat_, options_, absl::Seconds(slurm_.idle_seconds()), execute);
  execute->ending = TimeToEnd(slurm_);
  if (seat_.memory_mb() > 0) engine->capacity.memory_mb = seat_.memory_mb();
}

absl::Status SlurmRun::Ended(const absl::Status& outcome) const {
  if (!is_pilot_) {
    if (!absl::IsCancelled(outcome)) return outcome;
    return absl::CancelledError(
        absl::StrCat(outcome.message(), "; the pilots continue in Slurm ('openset cancel' cancels them)"));
  }
  if (outcome == TimeIsUp()) {  // a cancelled pilot isn't queued again; Slurm itself queues a preempted one
    const absl::Status requeued = client_.Requeue(ThisTaskId());
    std::cout << "requeued: " << (requeued.ok() ? "yes" : std::string(requeued.message())) << std::endl;
  }
  return outcome;
}

}  // namespace openset

#include "tools/cli/run_plan.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <set>
#include <utility>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/local_engine.h"
#include "experiments/engine/slurm/program_copy.h"
#include "experiments/engine/slurm/run_on_slurm.h"
#include "experiments/engine/slurm/slurm_client.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/processes/orphans.h"
#include "tools/cli/deploy_flags.h"
#include "tools/cli/engine_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/report_files.h"
#include "tools/cli/run/run_display.h"
#include "tools/cli/run/run_lines.h"
#include "tools/cli/study_cost.h"

ABSL_FLAG(bool, detach, false,
          "With --engine=slurm: submit everything and exit. The same command without --detach watches, and submits "
          "what the choices of searches add.");
ABSL_DECLARE_FLAG(std::string, slurm_task);

namespace openset {
namespace {

std::string Count(int n, const char* what) { return absl::StrCat(n, " ", what, n == 1 ? "" : "s"); }

// What is about to be done.
void ShowWork(const Study& study, int cpu_slots) {
  const Plan& plan = study.plan();
  const int needed = plan.CountNeeded(ActionKind::kEvaluate);
  int imports = 0;
  for (const PlanNode& node : plan.nodes) imports += node.needed && node.is_import;
  std::cout << study.name() << ": " << needed << " of " << TrialCount(static_cast<int>(plan.trials.size()))
            << " to run: " << Count(plan.CountNeeded(ActionKind::kTrain) - imports, "training") << ", "
            << (imports > 0 ? absl::StrCat(Count(imports, "import"), " of a model, ") : "")
            << Count(plan.CountNeeded(ActionKind::kInfer), "inference") << ", " << Count(needed, "evaluation") << ", "
            << Count(cpu_slots, "CPU slot") << ".\n";
  if (study.waiting() > 0) std::cout << SearchText(study) << "\n";
  std::cout << std::flush;
}

// What each kind takes, of which nothing is said.
ActionMemory MemoryOf(const DeploySpec& deploy) {
  ActionMemory memory = deploy.memory();
  const int64_t slot = deploy.memory_per_slot_mb();
  if (memory.train_mb() == 0) memory.set_train_mb(slot);
  if (memory.infer_mb() == 0) memory.set_infer_mb(slot);
  if (memory.evaluate_mb() == 0) memory.set_evaluate_mb(slot);
  return memory;
}

// Columns of the terminal that standard output is; 80 where it does not say.
int TerminalWidth() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// The other processes that run the same experiment.
void ShowOtherRuns(const Study& study, const Leases& leases) {
  for (const RunState& run : RunsOf(study.store())) {
    if (run.id() == leases.run_id() || run.experiment() != study.name()) continue;
    std::cout << RunName(run.id()) << " also runs it (" << TotalLine(run)
              << "). This process waits for its results and uses them.\n";
    for (const RunningAction& action : run.running()) std::cout << "  " << ActionLine(action) << "\n";
  }
}

RunDisplayOptions DisplayOptions(const Study& study) {
  RunDisplayOptions shown;
  shown.experiment = study.name();
  shown.slurm_job = ThisTaskId();
  shown.store = study.store().folder();
  if (isatty(STDOUT_FILENO) != 0) shown.width = TerminalWidth;
  // Tasks of Slurm leave it to who submitted them.
  if (!FileExists(study.experiment().source.file()) || IsSlurmTask()) return shown;
  std::cout << "report, rewritten as results arrive: " << ReportPagePath(study) << std::endl;
  WriteReportPage(study).IgnoreError();  // the run will say what is wrong with the store
  shown.refresh_report = [&study] { WriteReportPage(study).IgnoreError(); };
  return shown;
}

// Sets what of the plan is done here, for a task of Slurm.
absl::Status SelectTask(const Plan& plan, const std::string& file, ExecuteOptions* execute) {
  OPENSET_ASSIGN_OR_RETURN(const SlurmTask task, ThisTask(file));
  const std::set<std::string> keys(task.key().begin(), task.key().end());
  size_t found = 0;
  for (const PlanNode& node : plan.nodes) found += keys.count(node.key);
  if (found < keys.size()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the study, or a file that it uses, has changed since this job was submitted: ", keys.size() - found,
        " of its ", keys.size(), " actions are no longer part of the study; submit it again"));
  }
  execute->only = [keys](const PlanNode& node) { return keys.count(node.key) > 0; };
  return absl::OkStatus();
}

// Submits and watches.
absl::Status RunBySlurm(Study* study, const DeploySpec& deploy) {
  SlurmRunOptions options;
  options.submit.slurm = deploy.slurm();
  options.submit.experiment = study->name();
  OPENSET_RETURN_IF_ERROR(SlurmClient().Queue().status());  // there is a Slurm, before anything is copied for it
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  std::vector<std::string> others;
  if (!deploy.worker().empty()) others.push_back(deploy.worker());
  OPENSET_ASSIGN_OR_RETURN(options.submit.program, CopyProgram(study->store(), runfiles, ProgramPath(), others));
  options.submit.command = {options.submit.program.program};
  const std::string line = ReadFile("/proc/self/cmdline").value_or("");
  const std::vector<std::string> words = absl::StrSplit(line, '\0', absl::SkipEmpty());
  options.submit.command.insert(options.submit.command.end(), words.begin() + 1, words.end());
  options.memory = MemoryOf(deploy);
  options.retries = deploy.retries();
  options.max_failures = deploy.max_failures();
  options.detach = absl::GetFlag(FLAGS_detach);
  options.poll = absl::Seconds(deploy.slurm().poll_seconds());
  RunDisplay display(study->plan(), DisplayOptions(*study), &std::cout);
  const auto choose = [study](int node) { return study->Choose(node); };
  return RunOnSlurm(study->plan(), choose, study->store(), SlurmClient(), options, &display);
}

// Why a model could not be taken over, where no trial has a result; OK where that is not what went wrong.
absl::Status ImportFailure(const Study& study) {
  const Plan& plan = study.plan();
  for (const int trial : study.ReportedTrials()) {
    if (study.store().HasRecord(plan.trial_id(trial))) return absl::OkStatus();
  }
  for (const PlanNode& node : plan.nodes) {
    if (!node.needed || !node.is_import || study.store().HasCheckpoint(node.key)) continue;
    const absl::StatusOr<FailureRecord> failure = study.store().LoadFailure(node.key);
    if (failure.ok()) return absl::InvalidArgumentError(absl::StrCat("the model: ", failure->message()));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> RunFlags() {
  return {"deploy",  "store",   "engine", "devices",      "jobs",       "data",
          "library", "retries", "worker", "max_failures", "keep_going", "memory_per_slot",
          "redo",    "only",    "detach", "slurm_task",   "private"};
}

absl::Status RunPlan(Study* study) {
  const Plan& plan = study->plan();
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> lines, study->SourceLines());
  for (const std::string& line : lines) std::cout << line << ".\n";
  if (plan.CountNeeded(ActionKind::kEvaluate) == 0) {
    const size_t trials = plan.trials.size();
    if (const int left = plan.CountLeft(); left > 0) {
      std::cout << study->name() << ": " << left << " of " << TrialCount(static_cast<int>(trials))
                << " left, and --only selects none of them; nothing to run.\n";
      return absl::OkStatus();
    }
    std::cout << study->name() << ": " << (trials == 1 ? "its trial is" : absl::StrCat("all ", trials, " trials are"))
              << " done; nothing to run.\n";
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(const Deployment deployment, DeploymentFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const LocalEngineOptions options, EngineOptions(deployment.spec, *study));
  LocalEngine engine(study->store(), options);
  // A tuned trial reads what the trial that it is made of reads.
  OPENSET_RETURN_IF_ERROR(study->CheckInputs(options.data_folders));
  ShowWork(*study, options.capacity.cpu_threads);
  OPENSET_RETURN_IF_ERROR(study->store().Make());
  SweepTemporaries(study->store());
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> aside, study->QuarantineDamaged());
  for (const std::string& line : aside) std::cout << "damaged: " << line << ".\n";
  OPENSET_RETURN_IF_ERROR(study->RememberData());
  OPENSET_RETURN_IF_ERROR(study->RememberSpec());
  OPENSET_RETURN_IF_ERROR(study->RemoveRedone());
  if (deployment.spec.engine() == DeploySpec::SLURM) return RunBySlurm(study, deployment.spec);
  LeaseOptions lease;
  lease.lease = absl::Seconds(deployment.spec.lease_seconds());
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Leases> leases, Leases::Begin(study->store(), lease));
  ShowOtherRuns(*study, *leases);
  RunDisplayOptions shown = DisplayOptions(*study);
  OPENSET_ASSIGN_OR_RETURN(const Expectation expected, ExpectationOf(*study));
  if (!expected.text.empty() && !IsSlurmTask()) std::cout << expected.text << std::endl;
  shown.expected = expected.pace;
  RunDisplay display(plan, std::move(shown), &std::cout);
  const auto choose = [study](int node) { return study->Choose(node); };
  ExecuteOptions execute;
  execute.memory = MemoryOf(deployment.spec);
  execute.retry.retries = deployment.spec.retries();
  execute.max_failures = deployment.spec.max_failures();
  execute.leases = leases.get();
  const std::string task = absl::GetFlag(FLAGS_slurm_task);
  if (task.empty()) return ExecutePlan(plan, choose, study->store(), execute, &engine, &display);
  OPENSET_RETURN_IF_ERROR(SelectTask(plan, task, &execute));
  execute.ending = TimeToEnd(deployment.spec.slurm());
  const absl::Status outcome = ExecutePlan(plan, choose, study->store(), execute, &engine, &display);
  if (outcome == TimeIsUp()) {  // one that is cancelled stays out of the queue; one that is preempted Slurm puts there
    const absl::Status requeued = SlurmClient().Requeue(ThisTaskId());
    std::cout << "to be queued again: " << (requeued.ok() ? "yes" : std::string(requeued.message())) << std::endl;
  }
  return outcome;
}

absl::Status FinishRun(const Study& study, const absl::Status& outcome, const std::string& after_failure) {
  if (IsSlurmTask()) return outcome;
  if (absl::IsCancelled(outcome)) {
    return absl::CancelledError(absl::StrCat(outcome.message(), "; the same command continues from here"));
  }
  const bool actions_failed = absl::IsAborted(outcome);
  if (!outcome.ok() && !actions_failed) return outcome;
  if (actions_failed) OPENSET_RETURN_IF_ERROR(ImportFailure(study));
  OPENSET_RETURN_IF_ERROR(WriteAndShowReport(study, /*keep_fuller=*/actions_failed));
  if (actions_failed) return absl::AbortedError(absl::StrCat(outcome.message(), "; ", after_failure));
  return absl::OkStatus();
}

}  // namespace openset

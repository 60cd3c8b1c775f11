#include "tools/cli/run/run_plan.h"

#include <unistd.h>

#include <iostream>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"
#include "core/text/wrapped_text.h"
#include "experiments/action/stage.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/local_engine.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/spec/model_files.h"
#include "experiments/store/store_contents.h"
#include "experiments/study/check_inputs.h"
#include "experiments/worker/cpu_precision.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/report_files.h"
#include "tools/cli/run/allowed_commands.h"
#include "tools/cli/run/engine_options.h"
#include "tools/cli/run/run_display.h"
#include "tools/cli/run/study_cost.h"
#include "tools/cli/store_budget.h"

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

// For the process that submits to Slurm.
absl::StatusOr<SlurmOptions> SlurmOptionsOf(const Study& study, const RunConfig& config) {
  SlurmOptions options;
  options.deploy = config.deployment;
  options.experiment = study.name();
  options.program = ProgramPath();
  OPENSET_ASSIGN_OR_RETURN(options.runfiles, RunfilesFolder());
  if (config.deployment.has_worker()) options.other_programs.push_back(config.deployment.worker());
  options.command = Arguments();
  options.only_these = !config.study.only.empty() || !config.study.redo.empty();
  OPENSET_ASSIGN_OR_RETURN(options.failures_before, FailuresIn(study.store()));
  return options;
}

// Fails if the array that this process is a task of was submitted for other trials.
absl::Status CheckIsUnchanged(const Study& study, const SlurmArray& array) {
  std::set<std::string> gone(array.record().begin(), array.record().end());
  const size_t records = gone.size();
  for (const Action& action : study.plan().actions) gone.erase(action.key);
  if (gone.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the study, or a file that it uses, has changed since this job was submitted: ", gone.size(),
                   " of its ", records, " records are no longer part of the study; submit it again"));
}

// For a process that is a task of the array; `failures_before` must outlive the run.
void SetUpTask(const SlurmArray& array, FailuresBefore* failures_before, ExecuteOptions* execute,
               LocalEngineOptions* engine) {
  for (const std::string& key : array.failed_before()) ++(*failures_before)[key];
  execute->failures_before = failures_before;
  execute->makes_choices = !array.only_these();
  execute->idle_timeout = absl::Seconds(execute->deploy.slurm().idle_seconds());
  execute->ending = TimeToEnd(execute->deploy.slurm());
  if (array.seat().memory_mb() > 0) engine->capacity.memory_mb = array.seat().memory_mb();
}

// Prints a paragraph, wrapped to the terminal if there is one.
void Show(absl::string_view text) {
  std::cout << (isatty(STDOUT_FILENO) != 0 ? Wrapped(text, TableWidth()) : std::string(text)) << std::endl;
}

// Prints what will be done. `cpu_slots`: of this process; 0 if it starts nothing itself.
void ShowWork(const Study& study, int cpu_slots) {
  const Plan& plan = study.plan();
  int imports = 0;
  for (const Action& action : plan.actions) imports += action.is_needed() && action.role == ActionRole::kImport;
  std::string text = absl::StrCat(study.name(), ": ", plan.CountNeeded(ActionKind::kEvaluate), " of ",
                                  TrialCount(static_cast<int>(plan.trials.size())), " to run: ");
  for (const ActionKind kind : kActionKinds) {
    if (kind == ActionKind::kChoose) continue;  // SearchText() says it
    const int count = plan.CountNeeded(kind) - (kind == ActionKind::kTrain ? imports : 0);
    absl::StrAppend(&text, Counted(count, StageOf(kind).Noun(ActionRole::kMain)), ", ");
    if (kind == ActionKind::kTrain && imports > 0) absl::StrAppend(&text, Counted(imports, "import"), " of a model, ");
  }
  Show(absl::StrCat(text, cpu_slots > 0 ? Counted(cpu_slots, "CPU slot") : "by Slurm", "."));
  if (study.waiting() > 0) Show(SearchText(study));
}

// Prints what was already done, and other runs of the same study.
void ShowPreparation(const std::vector<std::string>& quarantined, const std::vector<RunState>& others) {
  for (const std::string& line : quarantined) Show(absl::StrCat("corrupt: ", line, "."));
  for (const RunState& run : others) {
    Show(absl::StrCat(RunnerText(run), " also runs it (", TotalLine(run),
                      "). This process shares the work: it takes what is unclaimed, and uses the other's results."));
    for (const RunningAction& action : run.running()) Show(absl::StrCat("  ", ActionLine(action)));
  }
}

RunDisplayOptions DisplayOptions(const Study& study, int cpu_slots, const Expectation& expected,
                                 const RunConfig& config) {
  RunDisplayOptions shown;
  shown.experiment = study.name();
  shown.overrides = study.experiment().overrides;
  shown.slurm_job = ThisTaskId();
  shown.store = study.store().folder();
  shown.expected = expected.pace;
  if (isatty(STDOUT_FILENO) != 0) shown.width = [] { return static_cast<int>(TableWidth()); };
  // Tasks of Slurm leave the report to the process that submitted them.
  const bool reports = FileExists(study.experiment().source.file()) && !config.is_slurm_task();
  if (!config.is_slurm_task()) {
    shown.refresh_report = [&study, reports, store_budget = StoreBudget(config)] {
      if (reports) WriteReportPage(study).IgnoreError();
      const absl::StatusOr<std::string> line = KeepStoreSizeDuring(study, store_budget);
      return line.ok() ? *line : absl::StrCat("store_gb: ", line.status().message());
    };
  }
  shown.on_begin = [&study, cpu_slots, text = expected.text, reports, is_task = config.is_slurm_task()](
                       const std::vector<std::string>& quarantined, const std::vector<RunState>& others) {
    ShowWork(study, cpu_slots);
    ShowPreparation(quarantined, others);
    for (const std::string& line : study.Unreadable())
      Show(absl::StrCat("can't be read now, left in place: ", line, "."));
    if (reports) {
      Show(absl::StrCat("report, rewritten as results arrive: ", ReportPagePath(study)));
      if (const std::string stale = StaleTablesText(study); !stale.empty()) Show(stale);
      WriteReportPage(study).IgnoreError();  // the run reports problems of the store
    }
    if (!text.empty() && !is_task) Show(text);
  };
  return shown;
}

}  // namespace

absl::Status CheckPrecisions(const Plan& plan, const RunConfig& config) {
  if (config.deployment.engine() == DeploySpec::SLURM || config.is_slurm_task()) return absl::OkStatus();
  for (const ActionId id : plan.NeededActions()) {
    const Action& action = plan[id];
    if (!StageOf(action).RunsModel()) continue;
    OPENSET_RETURN_IF_ERROR(CheckCpuPrecision(plan.TrialOf(action).execution()));
  }
  return absl::OkStatus();
}

std::vector<std::string> RunFlags() {
  return {"deploy", "store",        "engine",         "devices",         "jobs", "data", "library", "retries",
          "worker", "max_failures", "keep_going",     "memory_per_slot", "redo", "only", "detach",  "slurm_task",
          "tag",    "private",      "allow_commands", "always_allow"};
}

namespace {

// Whether a needed action needs LibTorch.
bool RunsNetworks(const Plan& plan) {
  for (const ActionId id : plan.NeededActions()) {
    const Action& action = plan[id];
    if (!StageOf(action).RunsModel()) continue;
    if (!UsesArraysOnly(plan.TrialOf(action).method().model())) return true;
  }
  return false;
}

}  // namespace

absl::Status RunPlan(Study* study, const RunConfig& config) {
  const Plan& plan = study->plan();
  const std::vector<std::string> lines = study->SourceLines();
  for (const std::string& line : lines) Show(absl::StrCat(line, "."));
  if (plan.CountNeeded(ActionKind::kEvaluate) == 0) {
    if (!plan.unreadable.empty()) return absl::AbortedError(UnreadableText(study->Unreadable()));
    const size_t trials = plan.trials.size();
    if (const int left = plan.CountLeft(); left > 0) {
      std::cout << study->name() << ": " << left << " of " << TrialCount(static_cast<int>(trials))
                << " left, and --only selects none of them; nothing to run.\n";
      return absl::OkStatus();
    }
    OPENSET_RETURN_IF_ERROR(study->RecordContents());  // of several contents, the one that the study is complete on
    std::cout << study->name() << ": " << (trials == 1 ? "its trial is" : absl::StrCat("all ", trials, " trials are"))
              << " done; nothing to run.\n";
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(LocalEngineOptions options,
                           EngineOptions(config, study->experiment().folders.catalog, RunsNetworks(plan)));
  OPENSET_ASSIGN_OR_RETURN(options.allow_commands, AllowCommands(*study, config));
  for (const std::string& line : SharedClusters(plan, study->experiment().catalog, config.data_folders)) {
    if (!config.is_slurm_task()) std::cerr << "hint: " << line << "\n";
  }
  ExecuteOptions execute;
  execute.deploy = config.deployment;
  const bool by_slurm = config.deployment.engine() == DeploySpec::SLURM;
  Expectation expected;
  if (!by_slurm) {
    OPENSET_RETURN_IF_ERROR(CheckPrecisions(plan, config));
    OPENSET_ASSIGN_OR_RETURN(expected, ExpectationOf(*study, config));
  }
  RunDisplay display(plan, DisplayOptions(*study, by_slurm ? 0 : options.capacity.cpu_threads, expected, config),
                     &std::cout);
  std::optional<SlurmRun> slurm;
  bool has_submitted = false;
  FailuresBefore failures_before;
  if (by_slurm) {
    if (const std::string hint = TimeHint(config.deployment.slurm()); !hint.empty()) std::cerr << hint << "\n";
    OPENSET_ASSIGN_OR_RETURN(SlurmOptions submit, SlurmOptionsOf(*study, config));
    slurm.emplace(plan, study->store(), std::move(submit), &display, [&](const std::string& line) {
      has_submitted = true;
      Show(absl::StrCat("submitted ", line));
    });
    slurm->SetUp(&execute);
    if (config.detach) execute.idle_timeout = absl::ZeroDuration();
  } else if (!config.slurm_task.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const SlurmArray array, ThisArray(config.slurm_task));
    OPENSET_RETURN_IF_ERROR(CheckIsUnchanged(*study, array));
    SetUpTask(array, &failures_before, &execute, &options);
  }
  LocalEngine engine(study->store(), options);
  const absl::Status outcome = study->Run(execute, &engine, &display);
  if (by_slurm && config.detach && outcome.ok()) {
    if (!has_submitted) Show("submitted nothing: the tasks in Slurm's queue cover all open work");
    Show(absl::StrCat(
        "watch them with 'openset status' and cancel them with 'openset cancel', each with this command's SPEC, "
        "--deploy and --store; their output: ",
        study->store().folder(), "/slurm/logs"));
  }
  if (by_slurm && absl::IsCancelled(outcome)) {
    return absl::CancelledError(
        absl::StrCat(outcome.message(), "; its tasks continue in Slurm, unless 'openset cancel' is stopping them"));
  }
  // A cancelled task isn't queued again; Slurm queues a preempted one.
  if (config.is_slurm_task() && outcome == TimeIsUp()) {
    const absl::Status requeued = SlurmClient().Requeue(ThisTaskId());
    std::cout << "requeued: " << (requeued.ok() ? "yes" : std::string(requeued.message())) << std::endl;
  }
  return outcome;
}

absl::Status FinishRun(const Study& study, const absl::Status& outcome, const std::string& after_failure,
                       const RunConfig& config) {
  if (config.is_slurm_task()) return outcome;
  if (config.detach && outcome.ok()) return outcome;  // there are no results yet
  if (absl::IsCancelled(outcome)) {
    return absl::CancelledError(absl::StrCat(outcome.message(), "; the same command continues from here"));
  }
  const bool actions_failed = absl::IsAborted(outcome);
  if (!outcome.ok() && !actions_failed) return outcome;
  OPENSET_RETURN_IF_ERROR(WriteAndShowReport(study, /*keep_fuller=*/actions_failed));
  if (actions_failed) return absl::AbortedError(absl::StrCat(outcome.message(), "; ", after_failure));
  return absl::OkStatus();
}

}  // namespace openset

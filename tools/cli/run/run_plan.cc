#include "tools/cli/run/run_plan.h"

#include <unistd.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/wrapped_text.h"
#include "experiments/action/memory_limits.h"
#include "experiments/action/stage.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/local_engine.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/store_contents.h"
#include "experiments/worker/cpu_precision.h"
#include "tools/cli/flags/deploy_flags.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/report_files.h"
#include "tools/cli/run/engine_options.h"
#include "tools/cli/run/run_display.h"
#include "tools/cli/run/run_lines.h"
#include "tools/cli/run/slurm_run.h"
#include "tools/cli/run/study_cost.h"
#include "tools/cli/store_budget.h"
#include "tools/cli/terminal_width.h"

ABSL_DECLARE_FLAG(std::string, slurm_task);

namespace openset {
namespace {

std::string Count(int n, const char* what) { return absl::StrCat(n, " ", what, n == 1 ? "" : "s"); }

// On lines that fit the terminal, if there is one.
void Show(absl::string_view text) {
  std::cout << (isatty(STDOUT_FILENO) != 0 ? Wrapped(text, TableWidth()) : std::string(text)) << std::endl;
}

// Prints what will be done.
void ShowWork(const Study& study, int cpu_slots) {
  const Plan& plan = study.plan();
  int imports = 0;
  for (const Action& action : plan.actions) imports += action.is_needed() && action.role == ActionRole::kImport;
  std::string text = absl::StrCat(study.name(), ": ", plan.CountNeeded(ActionKind::kEvaluate), " of ",
                                  TrialCount(static_cast<int>(plan.trials.size())), " to run: ");
  for (const ActionKind kind : kActionKinds) {
    if (kind == ActionKind::kChoose) continue;  // SearchText() says it
    const int count = plan.CountNeeded(kind) - (kind == ActionKind::kTrain ? imports : 0);
    absl::StrAppend(&text, Count(count, StageOf(kind).Noun(ActionRole::kMain)), ", ");
    if (kind == ActionKind::kTrain && imports > 0) absl::StrAppend(&text, Count(imports, "import"), " of a model, ");
  }
  Show(absl::StrCat(text, Count(cpu_slots, "CPU slot"), "."));
  if (study.waiting() > 0) Show(SearchText(study));
}

// Prints what was already done, and other runs of the same study.
void ShowPreparation(const std::vector<std::string>& quarantined, const std::vector<RunState>& others) {
  for (const std::string& line : quarantined) Show(absl::StrCat("corrupt: ", line, "."));
  for (const RunState& run : others) {
    Show(absl::StrCat(RunnerText(run), " also runs it (", TotalLine(run),
                      "). This process waits for its results and uses them."));
    for (const RunningAction& action : run.running()) Show(absl::StrCat("  ", ActionLine(action)));
  }
}

RunDisplayOptions DisplayOptions(const Study& study, int cpu_slots, const Expectation& expected,
                                 std::optional<int64_t> store_budget) {
  RunDisplayOptions shown;
  shown.experiment = study.name();
  shown.laid_over = study.experiment().laid_over;
  shown.slurm_job = ThisTaskId();
  shown.store = study.store().folder();
  shown.expected = expected.pace;
  if (isatty(STDOUT_FILENO) != 0) shown.width = [] { return static_cast<int>(TableWidth()); };
  // Pilots on Slurm leave the report to the process that submitted them.
  const bool reports = FileExists(study.experiment().source.file()) && !IsSlurmTask();
  if (!IsSlurmTask()) {
    shown.refresh_report = [&study, reports, store_budget] {
      if (reports) WriteReportPage(study).IgnoreError();
      const absl::StatusOr<std::string> line = KeepStoreSizeDuring(study, store_budget);
      return line.ok() ? *line : absl::StrCat("store_gb: ", line.status().message());
    };
  }
  shown.on_begin = [&study, cpu_slots, text = expected.text, reports](const std::vector<std::string>& quarantined,
                                                                      const std::vector<RunState>& others) {
    ShowWork(study, cpu_slots);
    ShowPreparation(quarantined, others);
    for (const std::string& line : study.Unreadable()) Show(absl::StrCat("can't be read now, and stays: ", line, "."));
    if (reports) {
      Show(absl::StrCat("report, rewritten as results arrive: ", ReportPagePath(study)));
      WriteReportPage(study).IgnoreError();  // the run reports problems of the store
    }
    if (!text.empty() && !IsSlurmTask()) Show(text);
  };
  return shown;
}

}  // namespace

absl::Status CheckPrecisions(const Plan& plan, const DeploySpec& deploy) {
  if (deploy.engine() == DeploySpec::SLURM || IsSlurmTask()) return absl::OkStatus();
  for (const ActionId id : plan.NeededActions()) {
    const Action& action = plan[id];
    if (!StageOf(action).RunsModel()) continue;
    OPENSET_RETURN_IF_ERROR(CheckCpuPrecision(plan.TrialOf(action).execution()));
  }
  return absl::OkStatus();
}

std::vector<std::string> RunFlags() {
  return {"deploy",  "store",   "engine", "devices",      "jobs",       "data",
          "library", "retries", "worker", "max_failures", "keep_going", "memory_per_slot",
          "redo",    "only",    "detach", "slurm_task",   "private"};
}

absl::Status RunPlan(Study* study) {
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
    std::cout << study->name() << ": " << (trials == 1 ? "its trial is" : absl::StrCat("all ", trials, " trials are"))
              << " done; nothing to run.\n";
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(const Deployment deployment, DeploymentFromFlags());
  const DeploySpec& deploy = deployment.spec;
  OPENSET_ASSIGN_OR_RETURN(LocalEngineOptions options, EngineOptions(deploy, study->experiment().folders.catalog));
  RunOptions run;
  run.data_folders = options.data_folders;
  run.lease.lease = absl::Seconds(deploy.lease_seconds());
  run.execute.memory = deploy.memory();
  FillMemory(deploy.memory_per_slot_mb(), &run.execute.memory);
  run.execute.retry.retries = deploy.retries();
  run.execute.max_failures = deploy.max_failures();
  const bool by_slurm = deploy.engine() == DeploySpec::SLURM;
  Expectation expected;
  if (!by_slurm) {
    OPENSET_RETURN_IF_ERROR(CheckPrecisions(plan, deploy));
    OPENSET_ASSIGN_OR_RETURN(expected, ExpectationOf(*study));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::optional<int64_t> budget, StoreBudget());
  RunDisplay display(plan, DisplayOptions(*study, options.capacity.cpu_threads, expected, budget), &std::cout);
  std::unique_ptr<SlurmRun> slurm;
  if (by_slurm) {
    OPENSET_ASSIGN_OR_RETURN(slurm, SlurmRun::Launcher(*study, deploy, run.execute.memory, &display));
  } else if (const std::string task = absl::GetFlag(FLAGS_slurm_task); !task.empty()) {
    OPENSET_ASSIGN_OR_RETURN(slurm, SlurmRun::Pilot(*study, deploy, run.execute.memory, task));
  }
  if (slurm != nullptr) slurm->SetUp(&run.execute, &options);
  LocalEngine engine(study->store(), options);
  const absl::Status outcome = study->Run(run, &engine, &display);
  return slurm == nullptr ? outcome : slurm->Ended(outcome);
}

absl::Status FinishRun(const Study& study, const absl::Status& outcome, const std::string& after_failure) {
  if (IsSlurmTask()) return outcome;
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

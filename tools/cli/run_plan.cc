#include "tools/cli/run_plan.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/process/build_info.h"
#include "core/status_macros.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/local_engine.h"
#include "tools/cli/deploy_flags.h"
#include "tools/cli/flags.h"
#include "tools/cli/report_files.h"
#include "tools/cli/run_display.h"

namespace openset {
namespace {

absl::StatusOr<LocalEngineOptions> EngineOptions(const DeploySpec& deploy, const Study& study) {
  LocalEngineOptions options;
  options.capacity.cpu_threads =
      deploy.jobs() > 0 ? deploy.jobs() : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, DevicesFromFlags());
  options.capacity.gpus = devices.cuda;
  options.capacity.shares_per_gpu = deploy.actions_per_gpu();
  options.capacity.memory_mb = deploy.memory_mb();
  OPENSET_ASSIGN_OR_RETURN(options.data_folders, DataFoldersFromFlags());

  std::string worker = deploy.worker();
  if (worker.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
    worker =
        JoinPath(runfiles, IsStamped() ? "openset/tools/openset_worker" : "openset/tools/openset_worker_unstamped");
  }
  if (!FileExists(worker)) return absl::NotFoundError(absl::StrCat("the worker is not there: ", worker));
  options.trainer = {worker};
  const std::vector<std::string>& catalog = study.experiment().folders.catalog;
  options.trainer.insert(options.trainer.end(), catalog.begin(), catalog.end());
  options.evaluator = {ProgramPath(), "evaluate-worker"};
  return options;
}

// What is about to be done.
void ShowWork(const Study& study, int cpu_slots) {
  const Plan& plan = study.plan();
  const int needed = plan.CountNeeded(ActionKind::kEvaluate);
  int imports = 0;
  for (const PlanNode& node : plan.nodes) imports += node.needed && node.is_import;
  std::cout << study.name() << ": " << needed << " of " << plan.trials.size()
            << " trials to run: " << plan.CountNeeded(ActionKind::kTrain) - imports << " trainings, "
            << (imports > 0 ? absl::StrCat(imports, " imports of a model, ") : "")
            << plan.CountNeeded(ActionKind::kInfer) << " inferences, " << needed << " evaluations, " << cpu_slots
            << " CPU slots.\n";
  if (study.waiting() > 0) std::cout << SearchText(study) << "\n";
  std::cout << std::flush;
}

}  // namespace

std::vector<std::string> RunFlags() {
  return {"deploy", "store", "engine", "devices", "jobs", "data", "library", "worker", "redo"};
}

absl::Status RunPlan(Study* study) {
  const Plan& plan = study->plan();
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> lines, study->SourceLines());
  for (const std::string& line : lines) std::cout << line << ".\n";
  if (plan.CountNeeded(ActionKind::kEvaluate) == 0) {
    std::cout << study->name() << ": all " << plan.trials.size() << " trials are done; nothing to run.\n";
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(const Deployment deployment, DeploymentFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const LocalEngineOptions options, EngineOptions(deployment.spec, *study));
  LocalEngine engine(study->store(), options);
  // A tuned trial reads what the trial that it is made of reads.
  OPENSET_RETURN_IF_ERROR(study->CheckInputs(options.data_folders));
  ShowWork(*study, options.capacity.cpu_threads);
  study->store().SweepTemporaries();
  OPENSET_RETURN_IF_ERROR(study->RememberData());
  OPENSET_RETURN_IF_ERROR(study->RemoveRedone());
  RunDisplay display(plan, isatty(STDOUT_FILENO) != 0, &std::cout);
  const auto choose = [study](int node) { return study->Choose(node); };
  return ExecutePlan(plan, choose, study->store(), deployment.spec.memory(), &engine, &display);
}

absl::Status FinishRun(const Study& study, const absl::Status& outcome, const std::string& after_failure) {
  if (absl::IsCancelled(outcome)) {
    return absl::CancelledError(absl::StrCat(outcome.message(), "; the same command goes on from here"));
  }
  const bool actions_failed = absl::IsAborted(outcome);
  if (!outcome.ok() && !actions_failed) return outcome;
  OPENSET_RETURN_IF_ERROR(WriteAndShowReport(study));
  if (actions_failed) return absl::AbortedError(absl::StrCat(outcome.message(), "; ", after_failure));
  return absl::OkStatus();
}

}  // namespace openset

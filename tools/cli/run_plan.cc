#include "tools/cli/run_plan.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/process/build_info.h"
#include "core/status_macros.h"
#include "data/catalog.h"
#include "data/data_set.h"
#include "data/selection.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/local_engine.h"
#include "experiments/spec/model_files.h"
#include "tools/cli/report_files.h"
#include "tools/cli/run_display.h"

namespace openset {
namespace {

// Whether the catalog lists a file of the part that has no checksum.
bool LacksChecksums(const DataSetInfo& info, const std::string& part) {
  for (const DataSetLayout& layout : info.layout()) {
    for (const DataSetPart& stored : layout.part()) {
      if (stored.name() != part) continue;
      for (const DataFile* file : FilesOf(stored)) {
        if (file->sha256_size() == 0) return true;
      }
    }
  }
  return false;
}

// Looks at every file that the run will read, before anything is written: by its checksum, or else by reading it.
absl::Status CheckData(const Experiment& experiment, const Plan& plan, const std::vector<std::string>& folders) {
  std::set<std::pair<std::string, std::string>> parts;
  const auto add = [&parts](const Selection& selection) {
    for (const PartOfDataSet& part : PartsOf(selection)) parts.insert({selection.data_set(), part.part()});
  };
  for (const PlanNode& node : plan.nodes) {
    if (!node.needed) continue;
    if (node.kind == ActionKind::kTrain) {
      add(node.train.data());
      if (node.train.has_external()) add(node.train.external());
      OPENSET_RETURN_IF_ERROR(CheckModelFiles(node.train.model()));
    }
    if (node.kind == ActionKind::kInfer) {
      // Inference takes weights from the checkpoint, a script from its file.
      if (node.infer.train(0).model().has_torch_script()) {
        OPENSET_RETURN_IF_ERROR(CheckModelFiles(node.infer.train(0).model()));
      }
      add(node.infer.known());
      for (const UnknownGroup& group : node.infer.unknown()) add(group.selection());
    }
  }
  for (const auto& [data_set, part] : parts) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, experiment.catalog.Find(data_set));
    OPENSET_RETURN_IF_ERROR(CheckFiles(*info, part, folders));
    if (LacksChecksums(*info, part)) OPENSET_RETURN_IF_ERROR(OpenPart(*info, part, folders).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<LocalEngineOptions> EngineOptions(const DeploySpec& deploy) {
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
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, SpecFoldersFromFlags());
  options.trainer = {worker, folders.catalog};
  options.evaluator = {ProgramPath(), "evaluate-worker"};
  return options;
}

}  // namespace

std::vector<std::string> RunFlags() {
  return {"deploy", "store", "engine", "devices", "jobs", "data", "library", "worker"};
}

absl::Status RunPlan(const LoadedPlan& loaded, const Store& store) {
  const Plan& plan = loaded.plan;
  const std::string& name = loaded.experiment.spec.name();
  const int needed = plan.CountNeeded(ActionKind::kEvaluate);
  if (needed == 0) {
    std::cout << name << ": all " << plan.trials.size() << " trials are done; nothing to run.\n";
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(const Deployment deployment, DeploymentFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const LocalEngineOptions options, EngineOptions(deployment.spec));
  OPENSET_RETURN_IF_ERROR(CheckData(loaded.experiment, plan, options.data_folders));
  int imports = 0;
  for (const PlanNode& node : plan.nodes) imports += node.needed && IsImport(node);
  std::cout << name << ": " << needed << " of " << plan.trials.size()
            << " trials to run: " << plan.CountNeeded(ActionKind::kTrain) - imports << " trainings, "
            << (imports > 0 ? absl::StrCat(imports, " imports of a model, ") : "")
            << plan.CountNeeded(ActionKind::kInfer) << " inferences, " << needed << " evaluations, "
            << options.capacity.cpu_threads << " CPU slots.\n";
  if (loaded.waiting > 0) std::cout << SearchText(loaded) << "\n";
  std::cout << std::flush;
  store.SweepTemporaries();
  RunDisplay display(plan, isatty(STDOUT_FILENO) != 0, &std::cout);
  LocalEngine engine(store, options);
  return ExecutePlan(plan, store, deployment.spec.memory(), &engine, &display);
}

absl::Status FinishRun(const LoadedPlan& loaded, const Store& store, const absl::Status& outcome,
                       const std::string& after_failure) {
  if (absl::IsCancelled(outcome)) {
    return absl::CancelledError(absl::StrCat(outcome.message(), "; the same command goes on from here"));
  }
  const bool actions_failed = absl::IsAborted(outcome);
  if (!outcome.ok() && !actions_failed) return outcome;
  OPENSET_RETURN_IF_ERROR(WriteAndShowReport(loaded, store));
  if (actions_failed) return absl::AbortedError(absl::StrCat(outcome.message(), "; ", after_failure));
  return absl::OkStatus();
}

}  // namespace openset

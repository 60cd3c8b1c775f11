#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "core/logging.h"
#include "core/status_macros.h"
#include "data/catalog.h"
#include "experiments/arrays/array_actions.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/spec/action.proto.h"
#include "experiments/worker/worker_loop.h"
#include "tools/cli/commands.h"

namespace openset {
namespace {

// Executes what needs no LibTorch. `catalog_folders`: read for the first action on arrays.
absl::Status Serve(const std::vector<std::string>& catalog_folders, const RunConfig& /*config*/) {
  InitLogging("openset");
  std::optional<Catalog> catalog;
  const auto on_arrays = [&](absl::Status (*act)(const WorkRequest& request, const ArrayContext& context)) -> Execute {
    return [&, act](const WorkRequest& request, const ReportProgress& report, const Poll& poll) -> absl::Status {
      ArrayContext context{request.key(), Store(request.store()), nullptr, {}, StageClock(), report, poll};
      std::optional<ThreadAdjuster> more_threads;
      // A command has the threads of its trial, and polls itself.
      if (!request.action().train().training().has_command()) more_threads.emplace(request, poll);
      if (!catalog.has_value()) {
        OPENSET_ASSIGN_OR_RETURN(catalog, Catalog::Open(catalog_folders));
      }
      context.catalog = &*catalog;
      context.data_folders.assign(request.data_folder().begin(), request.data_folder().end());
      if (request.has_cuda_device()) context.cuda_device = request.cuda_device();
      context.continued_key = request.continued_key();
      context.allow_commands = request.allow_commands();
      return act(request, context);
    };
  };
  WorkerActions actions;
  actions.train = on_arrays(
      [](const WorkRequest& request, const ArrayContext& context) { return TrainOnArrays(request.action(), context); });
  actions.infer = on_arrays(
      [](const WorkRequest& request, const ArrayContext& context) { return InferOnArrays(request.action(), context); });
  actions.evaluate = [](const WorkRequest& request, const ReportProgress&, const Poll& poll) {
    const ThreadAdjuster more_threads(request, poll);
    return EvaluateTrial(request.key(), request.action(), request.trial(), Store(request.store()));
  };
  std::exit(ServeWork(actions));
}

}  // namespace

Command EvaluateWorkerCommand() {
  Command command;
  command.name = "evaluate-worker";
  command.summary = "Works on arrays for the engine that started it: records, imported outputs, fitted heads.";
  command.arguments = "CATALOG_FOLDER...";
  command.max_arguments = 1000;
  command.hidden = true;
  command.run = Serve;
  return command;
}

}  // namespace openset

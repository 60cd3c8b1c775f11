#include <cstdlib>
#include <string>
#include <vector>

#include "core/logging.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/worker/worker_loop.h"
#include "tools/cli/commands.h"

namespace openset {
namespace {

absl::Status Serve(const std::vector<std::string>& /*arguments*/) {
  InitLogging("openset");
  const Execute evaluate = [](const WorkRequest& request, const ReportProgress&, const Poll& poll) {
    const MoreThreads more_threads(request, poll);
    return EvaluateTrial(request.key(), request.evaluate(), Store(request.store()));
  };
  std::exit(ServeWork({{WorkRequest::kEvaluate, evaluate}}));
}

}  // namespace

Command EvaluateWorkerCommand() {
  Command command;
  command.name = "evaluate-worker";
  command.summary = "Makes records for the engine that started it.";
  command.hidden = true;
  command.run = Serve;
  return command;
}

}  // namespace openset

// The commands of `openset`. Each has its own file.
#ifndef OPENSET_TOOLS_CLI_COMMANDS_H_
#define OPENSET_TOOLS_CLI_COMMANDS_H_

#include <vector>

#include "tools/cli/command.h"

namespace openset {

Command RunCommand();
Command ScoreCommand();
Command PlanCommand();
Command StatusCommand();
Command CancelCommand();
Command ReportCommand();
Command ReproduceCommand();
Command EvalCommand();
Command CompareCommand();
Command ThresholdCommand();
Command DetectorCommand();
Command FigureCommand();
// `commands`: all of them, for `openset list words`. They must outlive it.
Command ListCommand(const std::vector<Command>* commands);
Command ShowCommand();
Command DataCommand();
Command TaskCommand();
Command RecordsCommand();
Command DevicesCommand();
Command ExplainCommand();
Command ExportCommand();
Command ServeCommand();
Command CompletionCommand();
// Hidden: the worker that evaluates trials for the engine.
Command EvaluateWorkerCommand();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_COMMANDS_H_

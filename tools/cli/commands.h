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
Command ListCommand();
Command ShowCommand();
Command DataCommand();
Command TaskCommand();
Command RecordsCommand();
Command DevicesCommand();
Command ExplainCommand();
Command ExportCommand();
Command ServeCommand();
Command CompletionCommand();
// Hidden: completes the words of `commands` for a shell.
Command CompleteCommand(std::vector<Command> commands);
// Hidden: the worker that evaluates trials for the engine.
Command EvaluateWorkerCommand();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_COMMANDS_H_

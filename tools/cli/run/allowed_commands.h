// Whether the user allows the commands of a study's methods (training.command) to run.
#ifndef OPENSET_TOOLS_CLI_RUN_ALLOWED_COMMANDS_H_
#define OPENSET_TOOLS_CLI_RUN_ALLOWED_COMMANDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/study/study.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// "METHOD: COMMAND (sources in FOLDER)" for each different command of the study's trials.
std::vector<std::string> CommandsOf(const Study& study);

// True if the study has commands and the user allows them: --allow_commands, or earlier --always_allow for the folders
// of the study's file and of the method files that have a command; only commands of method files are remembered. False
// if it has none. Errors: kPermissionDenied, with the commands, if it has some that are not allowed; kInvalidArgument
// for --always_allow alone; kUnavailable if the folders can't be remembered.
absl::StatusOr<bool> AllowCommands(const Study& study, const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_ALLOWED_COMMANDS_H_

// `openset records`, `openset explain` and `openset export`.
#ifndef OPENSET_TOOLS_CLI_RECORDS_RECORDS_COMMANDS_H_
#define OPENSET_TOOLS_CLI_RECORDS_RECORDS_COMMANDS_H_

#include "tools/cli/command.h"

namespace openset {

Command RecordsCommand();
Command ExplainCommand();
Command ExportCommand();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_RECORDS_COMMANDS_H_

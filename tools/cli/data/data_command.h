// The commands of `openset` on data sets.
#ifndef OPENSET_TOOLS_CLI_DATA_DATA_COMMAND_H_
#define OPENSET_TOOLS_CLI_DATA_DATA_COMMAND_H_

#include "tools/cli/command.h"

namespace openset {

Command DataCommand();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DATA_DATA_COMMAND_H_

// `openset devices`.
#ifndef OPENSET_TOOLS_CLI_DEVICES_DEVICES_COMMAND_H_
#define OPENSET_TOOLS_CLI_DEVICES_DEVICES_COMMAND_H_

#include "tools/cli/command.h"

namespace openset {

Command DevicesCommand();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DEVICES_DEVICES_COMMAND_H_

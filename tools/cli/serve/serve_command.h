// `openset serve`.
#ifndef OPENSET_TOOLS_CLI_SERVE_SERVE_COMMAND_H_
#define OPENSET_TOOLS_CLI_SERVE_SERVE_COMMAND_H_

#include "tools/cli/command.h"

namespace openset {

Command ServeCommand();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_SERVE_COMMAND_H_

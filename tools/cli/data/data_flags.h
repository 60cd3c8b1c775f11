// Flags and functions that the commands on data sets share.
#ifndef OPENSET_TOOLS_CLI_DATA_DATA_FLAGS_H_
#define OPENSET_TOOLS_CLI_DATA_DATA_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// Returns the name of a data set. It is `text` if the catalog has it. If `text` is a path (has a slash or names a
// folder), it is the data set that was described from this folder if there is exactly one, otherwise "folder:PATH" with
// an absolute path.
std::string DataSetName(const std::string& text, const Catalog& catalog);

// Checks the name of a file LIBRARY/KIND/NAME.textproto, where LIBRARY is the value of --into, and KIND is "catalog" or
// "tasks". Errors: kInvalidArgument for a name with other characters than names have, and if openset or another library
// has a file of this name, which every command would refuse to choose from.
absl::Status CheckIsOwnName(const std::string& kind, const std::string& name, const RunConfig& config);

// Writes `text` to this file, and returns its path. Errors: those of CheckIsOwnName(); kInvalidArgument also if the
// file exists with other content.
absl::StatusOr<std::string> WriteIntoLibrary(const std::string& kind, const std::string& name, const std::string& text,
                                             const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DATA_DATA_FLAGS_H_

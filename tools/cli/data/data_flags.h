// Flags and functions that the commands on data sets share.
#ifndef OPENSET_TOOLS_CLI_DATA_DATA_FLAGS_H_
#define OPENSET_TOOLS_CLI_DATA_DATA_FLAGS_H_

#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/status/statusor.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "tools/cli/flags/deploy_flags.h"
#include "tools/cli/flags/library_flags.h"

ABSL_DECLARE_FLAG(std::string, name);
ABSL_DECLARE_FLAG(std::string, into);

namespace openset {

// Returns the data sets of --library, of OPENSET_LIBRARY and of the program.
absl::StatusOr<Catalog> CatalogFromFlags();

// Returns the name of a data set. It is `text` if the catalog has it. If `text` is a path (has a slash or names a
// folder), it is the data set that was described from this folder if there is exactly one, otherwise "folder:PATH" with
// an absolute path.
std::string DataSetName(const std::string& text, const Catalog& catalog);

// Writes `text` to LIBRARY/KIND/NAME.textproto, where LIBRARY is the value of --into. Returns the path. Errors:
// kInvalidArgument for a name with characters other than letters, digits, '_', '-' and '.', and if a different file of
// this name exists.
absl::StatusOr<std::string> WriteIntoLibrary(const std::string& kind, const std::string& name, const std::string& text);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DATA_DATA_FLAGS_H_

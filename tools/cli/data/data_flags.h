// What the commands on data sets share.
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

// The data sets that --library and OPENSET_LIBRARY and the program bring.
absl::StatusOr<Catalog> CatalogFromFlags();

// A data set's name: `text`, if the catalog knows it; of a path (with a slash, or of a folder), the one data set that
// was described from this folder, else "folder:PATH" with an absolute path.
std::string DataSetName(const std::string& text, const Catalog& catalog);

// Writes `text` as LIBRARY/KIND/NAME.textproto, LIBRARY being what --into says. Returns the path. Errors:
// kInvalidArgument for a name with other characters than letters, digits, '_', '-' and '.', and where there is another
// file of this name.
absl::StatusOr<std::string> WriteIntoLibrary(const std::string& kind, const std::string& name, const std::string& text);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DATA_DATA_FLAGS_H_

// Where names are looked up.
#ifndef OPENSET_TOOLS_CLI_FLAGS_LIBRARY_FLAGS_H_
#define OPENSET_TOOLS_CLI_FLAGS_LIBRARY_FLAGS_H_

#include <string>

#include "absl/flags/declare.h"
#include "absl/status/statusor.h"
#include "experiments/spec/spec_folders.h"

ABSL_DECLARE_FLAG(std::string, library);

namespace openset {

// Returns the folders that come with the program and those of OPENSET_LIBRARY and --library. Errors: kInvalidArgument
// for a folder that is not a library.
absl::StatusOr<SpecFolders> SpecFoldersFromFlags();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_LIBRARY_FLAGS_H_

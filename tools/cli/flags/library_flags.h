// Libraries and paths that are given on the command line.
#ifndef OPENSET_TOOLS_CLI_FLAGS_LIBRARY_FLAGS_H_
#define OPENSET_TOOLS_CLI_FLAGS_LIBRARY_FLAGS_H_

#include <string>

#include "absl/flags/declare.h"
#include "absl/status/statusor.h"
#include "experiments/spec/spec_folders.h"

namespace openset {

// Paths given on the command line.

// Returns the absolute form of a path that is relative to the user's folder (`bazel run` changes the working folder).
std::string UserPath(const std::string& path);

}  // namespace openset

// Where names are looked up.

ABSL_DECLARE_FLAG(std::string, library);

namespace openset {

// Returns the folders that come with the program and those of OPENSET_LIBRARY and --library. Errors: kInvalidArgument
// for a folder that is not a library.
absl::StatusOr<SpecFolders> SpecFoldersFromFlags();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_LIBRARY_FLAGS_H_

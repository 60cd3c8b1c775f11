// Paths given on the command line.
#ifndef OPENSET_TOOLS_CLI_FLAGS_USER_PATH_H_
#define OPENSET_TOOLS_CLI_FLAGS_USER_PATH_H_

#include <string>

namespace openset {

// A path a user gave, relative to the folder he called from (`bazel run` changes the working folder).
std::string UserPath(const std::string& path);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_USER_PATH_H_

// Paths given on the command line.
#ifndef OPENSET_TOOLS_CLI_FLAGS_USER_PATH_H_
#define OPENSET_TOOLS_CLI_FLAGS_USER_PATH_H_

#include <string>

namespace openset {

// Returns the absolute form of a path that is relative to the user's folder (`bazel run` changes the working folder).
std::string UserPath(const std::string& path);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_USER_PATH_H_

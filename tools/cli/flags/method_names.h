// Names for methods that are given as files.
#ifndef OPENSET_TOOLS_CLI_FLAGS_METHOD_NAMES_H_
#define OPENSET_TOOLS_CLI_FLAGS_METHOD_NAMES_H_

#include <string>
#include <vector>

namespace openset {

// Returns a name for each argument: the file's name without folder and extension, with several files of one argument
// joined ("known+svhn" for "known.csv,svhn.csv"). If two names are equal, returns the arguments themselves.
std::vector<std::string> MethodNames(const std::vector<std::string>& arguments);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_METHOD_NAMES_H_

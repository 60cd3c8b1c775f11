// What methods are called that are given as files.
#ifndef OPENSET_TOOLS_CLI_FLAGS_METHOD_NAMES_H_
#define OPENSET_TOOLS_CLI_FLAGS_METHOD_NAMES_H_

#include <string>
#include <vector>

namespace openset {

// A name an argument: the file's name without folder and extension ("known+svhn" of several that are joined by commas),
// or the arguments as they are where two of these are the same.
std::vector<std::string> MethodNames(const std::vector<std::string>& arguments);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_METHOD_NAMES_H_

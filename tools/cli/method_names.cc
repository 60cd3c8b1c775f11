#include "tools/cli/method_names.h"

#include <algorithm>
#include <filesystem>

namespace openset {

std::vector<std::string> MethodNames(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const std::string& argument : arguments) {
    names.push_back(std::filesystem::path(argument).stem().string());
    if (std::find(names.begin(), names.end() - 1, names.back()) != names.end() - 1) return arguments;
  }
  return names;
}

}  // namespace openset

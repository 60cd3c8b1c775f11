#include "tools/cli/flags/method_names.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace openset {

std::vector<std::string> MethodNames(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const std::string& argument : arguments) {
    names.push_back(absl::StrJoin(absl::StrSplit(argument, ','), "+", [](std::string* out, absl::string_view path) {
      absl::StrAppend(out, std::filesystem::path(std::string(path)).stem().string());
    }));
    if (std::find(names.begin(), names.end() - 1, names.back()) != names.end() - 1) return arguments;
  }
  return names;
}

}  // namespace openset

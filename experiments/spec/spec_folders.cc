#include "experiments/spec/spec_folders.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/suggest.h"

namespace openset {
namespace {

constexpr char kEnding[] = ".textproto";

}  // namespace

SpecFolders SpecFoldersBelow(const std::string& root) {
  return {JoinPath(root, "experiments/specs"), JoinPath(root, "experiments/methods"),
          JoinPath(root, "experiments/presets"), JoinPath(root, "data/tasks"), JoinPath(root, "data/catalog")};
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& file : ListFolder(folder).value_or(std::vector<std::string>{})) {
    if (absl::EndsWith(file, kEnding)) names.emplace_back(absl::StripSuffix(file, kEnding));
  }
  return names;
}

absl::StatusOr<std::string> FindSpecFile(absl::string_view kind, const std::string& name, const std::string& folder,
                                         const std::string& beside) {
  if (absl::EndsWith(name, kEnding)) {
    const std::string path = JoinPath(beside, name);
    if (FileExists(path)) return path;
    return absl::NotFoundError(absl::StrCat("no such file: ", path));
  }
  const std::string path = JoinPath(folder, absl::StrCat(name, kEnding));
  if (!name.empty() && FileExists(path)) return path;
  return absl::InvalidArgumentError(UnknownName(kind, name, NamesIn(folder)));
}

}  // namespace openset

#include "tools/cli/data/data_flags.h"

#include <filesystem>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "data/sets/folder_data_set.h"

namespace openset {

std::string DataSetName(const std::string& text, const Catalog& catalog) {
  const std::vector<std::string> names = catalog.names();
  if (absl::c_linear_search(names, text)) return text;
  const bool is_path = absl::StrContains(text, '/') && !absl::StartsWith(text, kFolderPrefix);
  std::error_code error;
  if (!is_path && !std::filesystem::is_directory(UserPath(text), error)) return text;
  std::string folder = AbsolutePath(UserPath(text));
  if (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  std::vector<std::string> described;
  for (const std::string& name : names) {
    const absl::StatusOr<const DataSetInfo*> info = catalog.Find(name);
    if (!info.ok()) continue;
    const std::string& path = (*info)->layout(0).part(0).image_folder().path();
    if (path == folder || path == JoinPath(folder, "train")) described.push_back(name);
  }
  return described.size() == 1 ? described[0] : absl::StrCat(kFolderPrefix, folder);
}

absl::Status CheckIsOwnName(const std::string& kind, const std::string& name, const RunConfig& config) {
  if (const std::string problem = NameProblem(name); !problem.empty()) return absl::InvalidArgumentError(problem);
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, FindSpecFolders(config));
  const bool is_task = kind == "tasks";
  const std::string file = absl::StrCat(name, ".textproto");
  const std::string own = JoinPath(JoinPath(UserPath(config.into), kind), file);
  for (const std::string& folder : is_task ? folders.tasks : folders.catalog) {
    const std::string other = JoinPath(folder, file);
    std::error_code error;
    if (!FileExists(other) || std::filesystem::equivalent(other, own, error)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "'", name, "' is the name of another ", is_task ? "task" : "data set", " (", other, "): choose another name"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> WriteIntoLibrary(const std::string& kind, const std::string& name, const std::string& text,
                                             const RunConfig& config) {
  OPENSET_RETURN_IF_ERROR(CheckIsOwnName(kind, name, config));
  const std::string folder = JoinPath(UserPath(config.into), kind);
  const std::string path = JoinPath(folder, absl::StrCat(name, ".textproto"));
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  OPENSET_ASSIGN_OR_RETURN(const bool is_new, CreateFileAtomically(path, text));
  if (!is_new && ReadFile(path, kMaxTextBytes).value_or("") != text) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": already exists with other content; choose another name, or remove it"));
  }
  return path;
}

}  // namespace openset

#include "tools/cli/flags/study_folder.h"

#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/temporary_folder.h"
#include "core/status_macros.h"
#include "experiments/store/merge.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"
#include "tools/cli/flags/deploy_flags.h"
#include "tools/cli/flags/user_path.h"

namespace openset {
namespace {

// The content of a published folder, which is kept until the process exits.
struct Published {
  std::optional<TemporaryFolder> folder;
  std::map<std::string, std::string> library;
};

Published& ThePublished() {
  static Published published;
  return published;
}

// Puts the bundle's records into a temporary store, which is removed when the process exits, and sets --store to it.
absl::Status ReadIntoStore(const std::string& bundle) {
  if (absl::GetFlag(FLAGS_store).has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--store: ", bundle, " has the records of this study; for those of a store, name the spec"));
  }
  OPENSET_ASSIGN_OR_RETURN(TemporaryFolder made, TemporaryFolder::Make("study"));
  Published& published = ThePublished();
  published.folder = std::move(made);
  const std::string path = JoinPath(published.folder->path(), "store");
  const Store store(path);
  OPENSET_RETURN_IF_ERROR(store.Make());
  MergeCounts counts;
  OPENSET_RETURN_IF_ERROR(MergeFrom(bundle, store, &counts, &published.library));
  if (!counts.unreadable.empty()) return absl::UnavailableError(UnreadableText(counts.unreadable));
  if (!counts.damaged.empty()) {
    return absl::AbortedError(absl::StrCat("corrupt records:\n", absl::StrJoin(counts.damaged, "\n")));
  }
  absl::SetFlag(&FLAGS_store, path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> SpecOfStudyFolder(const std::string& argument) {
  std::error_code error;
  const std::filesystem::path given = std::filesystem::path(UserPath(argument)).lexically_normal();
  if (argument.empty() || !std::filesystem::is_directory(given, error)) return argument;
  const std::filesystem::path folder = given.has_filename() ? given : given.parent_path();
  const std::string name = JoinPath(folder.string(), folder.filename().string());
  const std::string spec = absl::StrCat(name, ".textproto"), bundle = absl::StrCat(name, ".zip");
  if (!FileExists(spec)) return argument;
  // A dangling link counts as an unreadable bundle, not as a missing one.
  if (std::filesystem::exists(std::filesystem::symlink_status(bundle, error))) {
    OPENSET_RETURN_IF_ERROR(ReadIntoStore(bundle));
  }
  return spec;
}

absl::Status AddCarriedLibrary(SpecFolders* folders) {
  const Published& published = ThePublished();
  if (!published.folder.has_value()) return absl::OkStatus();
  const std::vector<std::string> entries = NamesIn(folders->catalog);
  const std::string root = JoinPath(published.folder->path(), "library");
  for (const auto& [name, content] : published.library) {
    const bool is_task = absl::StartsWith(name, "tasks/"), is_entry = absl::StartsWith(name, "catalog/");
    if (!is_task && !is_entry) continue;
    // Two different files of one name would be an error, and the user's libraries take precedence.
    const std::string file = name.substr(name.find('/') + 1);
    if (is_entry && absl::c_linear_search(entries, absl::StripSuffix(file, ".textproto"))) continue;
    const std::string path = JoinPath(root, name);
    OPENSET_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, content));
  }
  const SpecFolders carried = SpecFoldersBelow(root);
  folders->catalog.insert(folders->catalog.end(), carried.catalog.begin(), carried.catalog.end());
  folders->carried_tasks = carried.tasks;
  return absl::OkStatus();
}

}  // namespace openset

#include "tools/cli/flags/study_folder.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/files/temporary_folder.h"
#include "core/status_macros.h"
#include "experiments/store/merge.h"
#include "experiments/store/store.h"
#include "tools/cli/flags/deploy_flags.h"
#include "tools/cli/flags/user_path.h"

namespace openset {
namespace {

// Puts the bundle's records into a store that lives as long as the process, and makes that --store.
absl::Status ReadIntoStore(const std::string& bundle) {
  static std::optional<TemporaryFolder> folder;
  if (absl::GetFlag(FLAGS_store).has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--store: ", bundle, " has the records of this study; for those of a store, name the spec"));
  }
  OPENSET_ASSIGN_OR_RETURN(TemporaryFolder made, TemporaryFolder::Make("study"));
  folder = std::move(made);
  const std::string path = JoinPath(folder->path(), "store");
  const Store store(path);
  OPENSET_RETURN_IF_ERROR(store.Make());
  MergeCounts counts;
  OPENSET_RETURN_IF_ERROR(MergeFrom(bundle, store, &counts));
  if (!counts.damaged.empty()) {
    return absl::AbortedError(absl::StrCat("damaged records:\n", absl::StrJoin(counts.damaged, "\n")));
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
  // A link that leads nowhere is a bundle that can't be read, not one that is missing.
  if (std::filesystem::exists(std::filesystem::symlink_status(bundle, error))) {
    OPENSET_RETURN_IF_ERROR(ReadIntoStore(bundle));
  }
  return spec;
}

}  // namespace openset

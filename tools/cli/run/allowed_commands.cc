#include "tools/cli/run/allowed_commands.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "experiments/spec/method.proto.h"

namespace openset {
namespace {

constexpr int64_t kMostBytes = 1 << 20;

// The real folder of a file; "" if there is none.
std::string RealFolder(const std::string& file) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(file, error);
  return error ? "" : path.parent_path().string();
}

// The method files of the study that set a command.
std::vector<const MethodLayer*> FilesWithCommands(const Study& study) {
  std::vector<const MethodLayer*> files;
  const auto add = [&files](const LoadedMethod& method) {
    for (const MethodLayer& layer : method.layers) {
      if (layer.spec.training().has_command()) files.push_back(&layer);
    }
  };
  for (const LoadedMethod& method : study.experiment().methods) add(method);
  for (const auto& [place, method] : study.experiment().task_methods) add(method);
  return files;
}

// The folders whose files decide which commands run: the study's folder, and the folders of method files that set a
// command.
std::set<std::string> FoldersOf(const Study& study) {
  std::set<std::string> folders = {RealFolder(study.experiment().source.file())};
  for (const MethodLayer* file : FilesWithCommands(study)) folders.insert(RealFolder(file->source.file()));
  return folders;
}

// Whether method files set the command of every trial, and its sources are in a folder of theirs. A study that sets one
// itself may repeat a stranger's record (`openset records spec`), so its folder doesn't vouch for it.
bool AreOfMethodFiles(const Study& study) {
  std::set<std::string> runs, folders = {""};  // "": without sources
  for (const MethodLayer* file : FilesWithCommands(study)) {
    runs.insert(file->spec.training().command().run());
    folders.insert(file->spec.training().command().folder());
  }
  return absl::c_all_of(study.plan().trials, [&](const Trial& trial) {
    if (!trial.method().training().has_command()) return true;
    const CommandSpec& command = trial.method().training().command();
    return runs.count(command.run()) > 0 && folders.count(command.folder()) > 0;
  });
}

// The file of remembered folders; "" without a home.
std::string RememberedFile() {
  const char* const home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : absl::StrCat(home, "/.config/openset/command_folders");
}

// Only a file that nobody else can write counts.
std::set<std::string> Remembered() {
  const std::string path = RememberedFile();
  struct stat info;
  if (path.empty() || StatFile(path, &info) != 0) return {};
  if (info.st_uid != getuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return {};
  const std::string text = ReadFile(path, kMostBytes).value_or("");
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  return {lines.begin(), lines.end()};
}

absl::Status Remember(std::set<std::string> folders) {
  const std::string path = RememberedFile();
  if (path.empty()) return absl::FailedPreconditionError("--always_allow: HOME is not set");
  for (const std::string& folder : folders) {
    if (absl::StrContains(folder, '\n'))
      return absl::InvalidArgumentError("--always_allow: a folder's name has two lines");
  }
  folders.merge(Remembered());
  folders.erase("");
  OPENSET_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
  return WriteFileAtomically(path, absl::StrCat(absl::StrJoin(folders, "\n"), "\n"));
}

}  // namespace

std::vector<std::string> CommandsOf(const Study& study) {
  std::set<std::string> lines;
  std::set<const TrialMethod*> seen;
  for (const Trial& trial : study.plan().trials) {
    if (!seen.insert(trial.shared_method().get()).second || !trial.method().training().has_command()) continue;
    const CommandSpec& command = trial.method().training().command();
    lines.insert(
        absl::StrCat(trial.method().name(), ": ", OneLine(command.run()),
                     command.source().empty() ? "" : absl::StrCat(" (sources in ", OneLine(command.folder()), ")")));
  }
  return {lines.begin(), lines.end()};
}

absl::StatusOr<bool> AllowCommands(const Study& study, const RunConfig& config) {
  if (config.always_allow && !config.allow_commands) {
    return absl::InvalidArgumentError("--always_allow belongs to --allow_commands; give both");
  }
  const std::vector<std::string> commands = CommandsOf(study);
  if (commands.empty()) return false;
  if (config.allow_commands) {
    if (config.always_allow) OPENSET_RETURN_IF_ERROR(Remember(FoldersOf(study)));
    return true;
  }
  const std::set<std::string> remembered = Remembered();
  bool is_allowed = AreOfMethodFiles(study);
  for (const std::string& folder : FoldersOf(study)) is_allowed = is_allowed && remembered.count(folder) > 0;
  if (is_allowed) return true;
  return absl::PermissionDeniedError(
      absl::StrCat("methods of this study train with commands, which would run on this machine with your rights:\n  ",
                   absl::StrJoin(commands, "\n  "),
                   "\nif you trust them, allow them for this run: --allow_commands (with --always_allow: from now on, "
                   "for commands of method files in the same folders)"));
}

}  // namespace openset

#include "experiments/spec/spec_folders.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/proto/text_proto.h"
#include "core/text/name.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"

namespace openset {
namespace {

constexpr char kEnding[] = ".textproto";

void AddIfThere(const std::string& root, const char* below, std::vector<std::string>* folders) {
  const std::string folder = JoinPath(root, below);
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) folders->push_back(folder);
}

void Add(const std::vector<std::string>& more, std::vector<std::string>* folders) {
  for (const std::string& folder : more) {
    const bool is_there = std::any_of(folders->begin(), folders->end(), [&](const std::string& other) {
      std::error_code error;
      return std::filesystem::equivalent(folder, other, error);
    });
    if (!is_there) folders->push_back(folder);
  }
}

// The same file, or a copy of it.
bool IsSame(const std::string& a, const std::string& b) {
  const absl::StatusOr<std::string> content = ReadFile(a, kMaxTextBytes), other = ReadFile(b, kMaxTextBytes);
  return content.ok() && other.ok() && *content == *other;
}

}  // namespace

SpecFolders SpecFoldersBelow(const std::string& root) {
  SpecFolders folders;
  for (const char* below : {"specs", "experiments/specs"}) AddIfThere(root, below, &folders.specs);
  for (const char* below : {"methods", "experiments/methods"}) AddIfThere(root, below, &folders.methods);
  for (const char* below : {"presets", "experiments/presets"}) AddIfThere(root, below, &folders.presets);
  for (const char* below : {"tasks", "data/tasks"}) AddIfThere(root, below, &folders.tasks);
  for (const char* below : {"catalog", "data/catalog"}) AddIfThere(root, below, &folders.catalog);
  for (const char* below : {"published", "experiments/published"}) AddIfThere(root, below, &folders.published);
  return folders;
}

SpecFolders SpecFoldersAround(const std::string& beside) {
  const std::string folder = beside.empty() ? "." : beside;
  SpecFolders folders = SpecFoldersBelow(folder);
  std::error_code error;
  // Appends a name and removes it again, so that a slash at the end makes no difference.
  const std::filesystem::path own =
      (std::filesystem::absolute(folder, error) / "spec").lexically_normal().parent_path();
  const std::filesystem::path above = own.parent_path();
  if (own.filename() == "specs" && above.filename() != "experiments") {
    AddSpecFolders(SpecFoldersBelow(above.string()), &folders);
  }
  return folders;
}

void AddSpecFolders(const SpecFolders& more, SpecFolders* folders) {
  Add(more.specs, &folders->specs);
  Add(more.methods, &folders->methods);
  Add(more.presets, &folders->presets);
  Add(more.tasks, &folders->tasks);
  Add(more.catalog, &folders->catalog);
  Add(more.published, &folders->published);
  Add(more.carried_tasks, &folders->carried_tasks);
}

void AddLibraryOfTask(const std::string& task, SpecFolders* folders) {
  if (!absl::EndsWith(task, ".textproto")) return;
  const std::filesystem::path folder = std::filesystem::path(task).parent_path(), above = folder.parent_path();
  AddSpecFolders(SpecFoldersBelow(folder.string()), folders);
  if (folder.filename() == "tasks" && above.filename() != "data") {
    AddSpecFolders(SpecFoldersBelow(above.string()), folders);
  }
}

std::vector<std::string> NamesIn(const std::vector<std::string>& folders, std::vector<std::string>* left_out) {
  std::set<std::string> names;
  for (const std::string& folder : folders) {
    for (const std::string& file : ListFolder(folder).value_or(std::vector<std::string>{})) {
      if (!absl::EndsWith(file, kEnding)) continue;
      const absl::string_view name = absl::StripSuffix(file, kEnding);
      if (IsName(name)) {
        names.emplace(name);
      } else if (left_out != nullptr) {
        left_out->push_back(absl::StrCat(folder, ": a file is left out: ", NameProblem(name)));
      }
    }
  }
  return {names.begin(), names.end()};
}

absl::StatusOr<std::string> FindSpecFile(absl::string_view kind, const std::string& name,
                                         const std::vector<std::string>& folders, const std::string& beside) {
  if (absl::EndsWith(name, kEnding)) {
    const std::string path = JoinPath(beside, name);
    if (FileExists(path)) return path;
    return absl::NotFoundError(absl::StrCat("no such file: ", path));
  }
  if (absl::c_all_of(name, [](char c) { return c == '.'; })) {  // and ""
    return absl::InvalidArgumentError(
        absl::StrCat("'", name, "' names no ", kind, ": give a name, or a path that ends in ", kEnding));
  }
  const std::string all_by = absl::StrCat("openset list ", kind == "study"               ? "studies"
                                                           : kind == "published numbers" ? "published"
                                                                                         : absl::StrCat(kind, "s"));
  const auto unknown = [&](const std::string& text) {
    return absl::InvalidArgumentError(UnknownName(kind, text, NamesIn(folders), all_by));
  };
  if (!IsName(name)) return unknown(OneLine(name));
  std::string found;
  for (const std::string& folder : folders) {
    const std::string path = JoinPath(folder, absl::StrCat(name, kEnding));
    // A dangling link is found too; reading it reports the error.
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) continue;
    if (found.empty()) {
      found = path;
    } else if (!IsSame(path, found)) {
      return absl::InvalidArgumentError(
          absl::StrCat("two files define ", kind, " '", name, "': ", found, " and ", path, "; rename one"));
    }
  }
  if (!found.empty()) return found;
  return unknown(name);
}

}  // namespace openset

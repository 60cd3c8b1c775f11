#include "tools/cli/task/task_new.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/openness.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "data/splits/task_problems.h"
#include "data/task.h"
#include "experiments/spec/experiment_file.h"
#include "tools/cli/deploy_flags.h"
#include "tools/cli/flags.h"

ABSL_DECLARE_FLAG(std::optional<std::string>, data);
ABSL_DECLARE_FLAG(std::vector<std::string>, known);
ABSL_DECLARE_FLAG(std::vector<std::string>, unknown);
ABSL_DECLARE_FLAG(uint64_t, seed);
ABSL_FLAG(double, openness, 0,
          "Instead of --unknown: as many unknown classes as come nearest to it, 1 - sqrt(2K / (2K + U)).");
ABSL_FLAG(int, splits, 1, "With numbers of classes: how many draws. With lists: how many folds of all samples.");
ABSL_FLAG(std::string, like, "", "A task whose data set, sources of unknowns and external images are taken over.");
ABSL_FLAG(bool, overwrite, false, "Replace a task's file that is there.");

namespace openset {
namespace {

absl::Status FlagError(absl::string_view flag, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", what));
}

// The number of unknown classes whose openness is nearest.
int UnknownFor(double openness, int known) {
  return std::max(1, static_cast<int>(std::lround(2 * known * (1 / ((1 - openness) * (1 - openness)) - 1))));
}

absl::Status SetDrawn(const NewTaskRequest& request, int known, TaskSpec* task) {
  std::optional<int> unknown = NumberOf(request.unknown);
  if (request.openness > 0) {
    if (!request.unknown.empty()) return FlagError("openness", "--unknown says how many already");
    if (request.openness >= 1)
      return FlagError("openness", absl::StrCat("must lie below 1 (is ", request.openness, ")"));
    unknown = UnknownFor(request.openness, known);
  }
  if (!unknown.has_value()) return FlagError("unknown", "how many unknown classes are drawn? (or say --openness)");
  OpennessLevel* level = task->mutable_drawn()->add_level();
  level->set_known(known);
  level->set_unknown(*unknown);
  task->mutable_drawn()->set_seed(request.seed);
  task->mutable_drawn()->set_repeats(request.splits);
  return absl::OkStatus();
}

// The folder of the library that tasks are written to.
std::string LibraryFolder() {
  for (const std::string& list : {absl::GetFlag(FLAGS_library),
                                  std::string(std::getenv("OPENSET_LIBRARY") ? std::getenv("OPENSET_LIBRARY") : "")}) {
    const std::vector<std::string> folders = absl::StrSplit(list, ',', absl::SkipEmpty());
    if (!folders.empty()) return UserPath(folders[0]);
  }
  return UserPath(".");
}

// A data set by name, or one that a folder is.
absl::StatusOr<std::string> DataSetName(const std::string& given, const Catalog& catalog) {
  if (catalog.Find(given).ok()) return given;
  const std::string name(absl::StripSuffix(given, "/"));
  const std::string last = name.substr(name.rfind('/') + 1);
  const bool is_folder = FileExists(UserPath(given));
  if (is_folder && catalog.Find(last).ok()) return last;
  if (is_folder) {
    return FlagError("data", absl::StrCat("the folder is in no catalog yet: openset data describe ", given));
  }
  return FlagError("data", catalog.Find(given).status().message());
}

}  // namespace

std::optional<int> NumberOf(const std::vector<std::string>& list) {
  int number = 0;
  if (list.size() == 1 && absl::SimpleAtoi(list[0], &number)) return number;
  return std::nullopt;
}

absl::StatusOr<std::vector<std::string>> ReadList(absl::string_view flag, const std::vector<std::string>& list) {
  std::vector<std::string> lines = list;
  if (list.size() == 1 && absl::StartsWith(list[0], "@")) {
    const absl::StatusOr<std::string> file = ReadFile(UserPath(list[0].substr(1)));
    if (!file.ok()) return Annotate(file.status(), absl::StrCat("--", flag));
    lines = absl::StrSplit(*file, '\n');
  }
  std::vector<std::string> items;
  for (const absl::string_view line : lines) {
    const absl::string_view item = absl::StripAsciiWhitespace(line);
    if (!item.empty() && item[0] != '#') items.emplace_back(item);
  }
  if (items.empty()) return FlagError(flag, "the list is empty");
  return items;
}

absl::StatusOr<std::vector<int>> ClassIds(absl::string_view flag, const std::vector<std::string>& items,
                                          const DataSetInfo& info) {
  std::vector<int> ids;
  const std::vector<std::string> names(info.class_name().begin(), info.class_name().end());
  for (const std::string& item : items) {
    const auto found = std::find(names.begin(), names.end(), item);
    const std::optional<int> number = NumberOf(std::vector<std::string>{item});
    if (found != names.end()) {
      ids.push_back(static_cast<int>(found - names.begin()));
    } else if (number.has_value() && *number >= 0 && *number < static_cast<int>(names.size())) {
      ids.push_back(*number);
    } else {
      return FlagError(flag, absl::StrCat(UnknownName(absl::StrCat("class of '", info.name(), "'"), item, names)));
    }
  }
  return ids;
}

absl::Status MakeSplits(const NewTaskRequest& request, const DataSetInfo& info, TaskSpec* task) {
  if (request.known.empty()) return FlagError("known", "how many classes are known, or which?");
  if (request.splits < 1) return FlagError("splits", absl::StrCat("must be at least 1 (is ", request.splits, ")"));
  // "--known=6" is a number unless a class is called so.
  const bool is_name =
      absl::c_linear_search(info.class_name(), request.known) && !absl::StrContains(request.known, ',');
  const std::optional<int> number =
      is_name && !NumberOf(request.unknown) && request.openness == 0 ? std::nullopt : NumberOf(request.known);
  if (number.has_value()) return SetDrawn(request, *number, task);
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> known, ReadList("known", request.known));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<int> known_ids, ClassIds("known", known, info));
  if (request.openness > 0) return FlagError("openness", "--known says which classes; it is for numbers of them");
  ClassSplit* split = task->add_split();
  for (const int id : known_ids) split->add_known(id);
  if (!request.unknown.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> unknown, ReadList("unknown", request.unknown));
    OPENSET_ASSIGN_OR_RETURN(const std::vector<int> unknown_ids, ClassIds("unknown", unknown, info));
    for (const int id : unknown_ids) split->add_unknown(id);
  }
  if (request.splits == 1) return absl::OkStatus();
  task->mutable_cross_validation()->set_folds(request.splits);
  task->mutable_cross_validation()->set_seed(request.seed);
  return absl::OkStatus();
}

absl::Status NewTask(const std::string& name) {
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, SpecFoldersFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, Catalog::Open(folders.catalog));
  TaskSpec task;
  if (const std::string like = absl::GetFlag(FLAGS_like); !like.empty()) {
    OPENSET_ASSIGN_OR_RETURN(task, LoadTask(like, folders, "", catalog));
    task.clear_split();
    task.clear_drawn();
    task.set_title(absl::StrCat(task.title(), " (classes of another list)"));
  }
  if (const std::string data = absl::GetFlag(FLAGS_data).value_or(""); !data.empty()) {
    OPENSET_ASSIGN_OR_RETURN(*task.mutable_data_set(), DataSetName(data, catalog));
  }
  if (!task.has_data_set()) return FlagError("data", "which data set? (or say --like)");
  task.set_name(name);
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(task.data_set()));
  const NewTaskRequest request = {name,
                                  absl::GetFlag(FLAGS_known),
                                  absl::GetFlag(FLAGS_unknown),
                                  absl::GetFlag(FLAGS_openness),
                                  absl::GetFlag(FLAGS_splits),
                                  absl::GetFlag(FLAGS_seed)};
  OPENSET_RETURN_IF_ERROR(MakeSplits(request, *info, &task));
  TaskSpec filled = task;
  FillDefaults(&filled);
  if (const std::vector<FieldProblem> problems = FindTaskProblems(filled, catalog); !problems.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(problems[0].path, ": ", problems[0].message));
  }
  const std::string folder = JoinPath(LibraryFolder(), "tasks");
  const std::string path = JoinPath(folder, name + ".textproto");
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  const std::string text =
      absl::StrCat("# proto-file: data/task.proto\n# proto-message: openset.TaskSpec\n\n", ToText(task));
  if (absl::GetFlag(FLAGS_overwrite)) {
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, text));
  } else {
    OPENSET_ASSIGN_OR_RETURN(const bool is_new, CreateFileAtomically(path, text));
    if (!is_new) return absl::InvalidArgumentError(path + ": is there already; --overwrite replaces it");
  }
  std::cout << path << "\n";
  return absl::OkStatus();
}

}  // namespace openset

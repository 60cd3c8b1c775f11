#include "tools/cli/task/task_new.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "absl/algorithm/container.h"
#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/openness.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "data/catalog.h"
#include "data/sets/data_set_parts.h"
#include "data/splits/class_splits.h"
#include "data/splits/task_problems.h"
#include "experiments/spec/experiment_file.h"
#include "tools/cli/data/data_flags.h"
#include "tools/cli/flags/user_path.h"

ABSL_DECLARE_FLAG(std::vector<std::string>, known);
ABSL_DECLARE_FLAG(std::vector<std::string>, unknown);
ABSL_DECLARE_FLAG(uint64_t, seed);
ABSL_DECLARE_FLAG(std::vector<std::string>, near);
ABSL_DECLARE_FLAG(std::vector<std::string>, far);
ABSL_FLAG(
    double, openness, 0,
    "Instead of --unknown: use the number of unknown classes whose openness, 1 - sqrt(2K / (2K + U)), is nearest.");
ABSL_FLAG(int, splits, 5, "Number of splits of the new task.");
ABSL_FLAG(
    int, folds, 1,
    "Number of folds into which all samples of each class are divided, for each split; 1: use the data set's parts.");
ABSL_FLAG(std::string, like, "",
          "Copy the data set, the sources of unknown samples and the external images of this task.");

namespace openset {
namespace {

absl::Status FlagError(absl::string_view flag, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", what));
}

// The number of unknown classes with the nearest openness.
int UnknownFor(double openness, int known) {
  return std::max(1, static_cast<int>(std::lround(2 * known * (1 / ((1 - openness) * (1 - openness)) - 1))));
}

absl::Status SetDrawn(const NewTaskRequest& request, const DataSetInfo& info, int known, TaskSpec* task) {
  const int classes = info.class_name_size();
  const int most = request.outside_classes > 0 ? classes : classes - 1;
  if (known < 1 || known > most) {
    return FlagError("known", absl::StrCat("must be 1 to ", most, " of the ", classes, " classes (is ", known, ")"));
  }
  int unknown = request.outside_classes > 0 ? request.outside_classes : classes - known;
  if (request.openness != 0) {
    if (!request.unknown.empty()) return FlagError("openness", "--unknown already gives the number");
    if (!(request.openness > 0 && request.openness < 1)) {
      return FlagError("openness", absl::StrCat("must lie between 0 and 1 (is ", request.openness, ")"));
    }
    unknown = UnknownFor(request.openness, known);
  } else if (!request.unknown.empty()) {
    const std::optional<int> number = NumberOf(request.unknown);
    if (!number.has_value()) return FlagError("unknown", "must be a number, because --known is one");
    unknown = *number;
  }
  OpennessLevel* level = task->mutable_drawn()->add_level();
  level->set_known(known);
  level->set_unknown(unknown);
  task->mutable_drawn()->set_seed(request.seed);
  task->mutable_drawn()->set_repeats(request.splits);
  return absl::OkStatus();
}

// The parts to train and test on: "train" and "test", or "val" if there is no "test".
absl::Status SetParts(const DataSetInfo& info, TaskSpec* task) {
  const auto has = [&](absl::string_view part) { return FindPart(info, part).ok(); };
  if (has("train") && has("test")) return absl::OkStatus();
  if (has("train") && has("val")) {
    task->add_test_part("val");
    return absl::OkStatus();
  }
  return FlagError("data", absl::StrCat("data set '", info.name(), "' has no parts for training and testing"));
}

// Adds a source for each data set: its part to test on.
absl::Status AddSources(const Catalog& catalog, absl::string_view flag, const std::vector<std::string>& data_sets,
                        UnknownGroup::Distance distance, TaskSpec* task) {
  for (const std::string& name : data_sets) {
    const absl::StatusOr<const DataSetInfo*> info = catalog.Find(DataSetName(name, catalog));
    if (!info.ok()) return Annotate(info.status(), absl::StrCat("--", flag));
    std::string part;
    for (const char* candidate : {"train", "val", "test"}) {
      if (FindPart(**info, candidate).ok()) part = candidate;
    }
    if (part.empty()) return FlagError(flag, absl::StrCat("data set '", name, "' has no part to test on"));
    UnknownSource* source = task->add_unknown();
    source->set_group((*info)->name());
    source->set_data_set((*info)->name());
    if (part != "test") source->set_part(part);
    source->set_distance(distance);
  }
  return absl::OkStatus();
}

// The sources of unknowns that --near and --far name, after the task's own classes if --unknown or --openness requests
// any.
absl::Status AddSources(const Catalog& catalog, bool own_classes, TaskSpec* task) {
  const std::vector<std::string> near = absl::GetFlag(FLAGS_near), far = absl::GetFlag(FLAGS_far);
  if (near.empty() && far.empty()) return absl::OkStatus();
  if (own_classes && task->unknown_size() == 0) {
    UnknownSource* own = task->add_unknown();
    own->set_group(task->data_set());
    own->set_data_set(task->data_set());
    if (task->test_part_size() > 0) own->set_part(task->test_part(0));
    own->set_distance(UnknownGroup::NEAR);
  }
  OPENSET_RETURN_IF_ERROR(AddSources(catalog, "near", near, UnknownGroup::NEAR, task));
  return AddSources(catalog, "far", far, UnknownGroup::FAR, task);
}

absl::StatusOr<TaskSpec> TaskOfFlags(const Catalog& catalog) {
  TaskSpec task;
  if (const std::string like = absl::GetFlag(FLAGS_like); !like.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, SpecFoldersFromFlags());
    OPENSET_ASSIGN_OR_RETURN(task, LoadTask(like, folders, "", catalog));
    task.clear_split();
    task.clear_drawn();
    task.set_title(absl::StrCat(task.title(), " (classes of another list)"));
    return task;
  }
  const std::optional<std::string> data = absl::GetFlag(FLAGS_data);
  if (!data.has_value()) return FlagError("data", "name a data set, or a folder of images");
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(DataSetName(*data, catalog)), "--data");
  task.set_data_set(info->name());
  OPENSET_RETURN_IF_ERROR(SetParts(*info, &task));
  return task;
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
    const absl::StatusOr<std::string> file = ReadGivenFile(UserPath(list[0].substr(1)));
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
    const std::optional<int> number = NumberOf({item});
    if (found != names.end()) {
      ids.push_back(static_cast<int>(found - names.begin()));
    } else if (number.has_value() && *number >= 0 && *number < static_cast<int>(names.size())) {
      ids.push_back(*number);
    } else {
      return FlagError(flag, UnknownName("class", item, names));
    }
  }
  return ids;
}

absl::Status MakeSplits(const NewTaskRequest& request, const DataSetInfo& info, TaskSpec* task) {
  if (request.known.empty()) {
    return FlagError("known", "give the known classes by name (cat,dog), or their number (6)");
  }
  if (request.splits < 1 || request.splits > 1000) return FlagError("splits", "must be 1 to 1000");
  if (request.folds < 1) return FlagError("folds", "must be at least 1");
  if (request.folds > 1) {
    task->mutable_cross_validation()->set_folds(request.folds);
    task->mutable_cross_validation()->set_seed(request.seed);
  }
  // --known is a number, unless a class has that name and neither --unknown nor --openness is a number.
  const bool is_name = request.known.size() == 1 && absl::c_linear_search(info.class_name(), request.known[0]);
  const bool is_number = !is_name || NumberOf(request.unknown).has_value() || request.openness != 0;
  if (const std::optional<int> number = NumberOf(request.known); number.has_value() && is_number) {
    return SetDrawn(request, info, *number, task);
  }
  if (request.openness != 0) return FlagError("openness", "needs a number of classes in --known, not a list");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> known, ReadList("known", request.known));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<int> known_ids, ClassIds("known", known, info));
  std::vector<int> unknown_ids;
  if (!request.unknown.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> unknown, ReadList("unknown", request.unknown));
    OPENSET_ASSIGN_OR_RETURN(unknown_ids, ClassIds("unknown", unknown, info));
  }
  const bool elsewhere = task->unknown_size() > 0;  // then the sources define what is unknown
  for (int s = 0; s < request.splits; ++s) {
    ClassSplit* split = task->add_split();
    for (const int id : known_ids) split->add_known(id);
    for (const int id : unknown_ids) split->add_unknown(id);
    if (!unknown_ids.empty() || elsewhere) continue;
    const std::string stream = absl::StrCat(request.name, "/split ", s);
    for (const int64_t id : RandomStream(request.seed, stream).Permutation(info.class_name_size())) {
      if (!absl::c_linear_search(known_ids, id)) split->add_unknown(static_cast<int>(id));
    }
  }
  return absl::OkStatus();
}

absl::Status NewTask(const std::string& name) {
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, CatalogFromFlags());
  OPENSET_ASSIGN_OR_RETURN(TaskSpec task, TaskOfFlags(catalog));
  task.set_name(name);
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(task.data_set()));
  NewTaskRequest request;
  request.name = name;
  request.known = absl::GetFlag(FLAGS_known);
  request.unknown = absl::GetFlag(FLAGS_unknown);
  request.openness = absl::GetFlag(FLAGS_openness);
  request.splits = absl::GetFlag(FLAGS_splits);
  request.folds = absl::GetFlag(FLAGS_folds);
  request.seed = absl::GetFlag(FLAGS_seed);
  OPENSET_RETURN_IF_ERROR(AddSources(catalog, !request.unknown.empty() || request.openness != 0, &task));
  if (task.unknown_size() > 0 && task.unknown(0).data_set() != task.data_set()) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* outside, catalog.Find(task.unknown(0).data_set()));
    request.outside_classes = outside->class_name_size();
  }
  OPENSET_RETURN_IF_ERROR(MakeSplits(request, *info, &task));
  TaskSpec filled = task;
  FillDefaults(&filled);
  for (const FieldProblem& problem : FindProblems(filled)) {
    return absl::InvalidArgumentError(absl::StrCat(problem.path, ": ", problem.message));
  }
  for (const FieldProblem& problem : FindTaskProblems(filled, catalog)) {
    return absl::InvalidArgumentError(absl::StrCat(problem.path, ": ", problem.message));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::vector<ClassSplit> splits, ClassSplitsOf(filled, catalog));
  OPENSET_ASSIGN_OR_RETURN(
      const std::string path,
      WriteIntoLibrary(
          "tasks", name,
          absl::StrCat("# proto-file: data/task.proto\n# proto-message: openset.TaskSpec\n\n", ToText(task))));
  for (size_t s = 0; s < splits.size(); ++s) {
    std::cout << "split " << s << ": known: " << absl::StrJoin(splits[s].known(), ", ", [&](std::string* out, int id) {
      out->append(info->class_name(id));
    }) << "\n";
  }
  if (splits[0].unknown_size() > 0) {
    std::cout << "openness " << Openness(splits[0].known_size(), splits[0].unknown_size()) << "\n";
  }
  std::cout << path << "\n";
  return absl::OkStatus();
}

}  // namespace openset

#include "data/task.h"

#include <numeric>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/openness.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "data/selection.h"

namespace openset {
namespace {

// experiments/store/metric_groups.h.
constexpr absl::string_view kResultsOfAll[] = {"pool", "mean of near", "mean of far"};

// The sources of unknowns with what the schema says of absent ones filled in.
std::vector<UnknownSource> SourcesOf(const TaskSpec& task) {
  if (task.unknown_size() > 0) return {task.unknown().begin(), task.unknown().end()};
  UnknownSource source;
  source.set_data_set(task.data_set());
  return {source};
}

std::vector<std::string> TrainParts(const TaskSpec& task) {
  if (task.train_part_size() == 0) return {"train"};
  return {task.train_part().begin(), task.train_part().end()};
}

std::vector<std::string> TestParts(const TaskSpec& task) {
  if (task.test_part_size() == 0) return {"test"};
  return {task.test_part().begin(), task.test_part().end()};
}

// The classes that are unknown in a source.
std::vector<int> UnknownClasses(const TaskSpec& task, const ClassSplit& split, const UnknownSource& source,
                                const DataSetInfo& info) {
  if (split.unknown_size() > 0) return {split.unknown().begin(), split.unknown().end()};
  std::vector<int> classes;
  for (int id = 0; id < info.class_name_size(); ++id) {
    if (source.data_set() != task.data_set() || !absl::c_linear_search(split.known(), id)) classes.push_back(id);
  }
  return classes;
}

std::vector<int> ExternalClasses(const ExternalSource& external, const DataSetInfo& info) {
  if (external.class_id_size() > 0) return {external.class_id().begin(), external.class_id().end()};
  std::vector<int> classes(info.class_name_size());
  std::iota(classes.begin(), classes.end(), 0);
  return classes;
}

class Checker {
 public:
  Checker(const TaskSpec& task, const Catalog& catalog) : task_(task), catalog_(catalog), sources_(SourcesOf(task)) {}

  // Data sets, parts and groups. Splits can be checked only if these are fine.
  bool CheckSources() {
    known_info_ = Find("data_set", task_.data_set());
    if (known_info_ == nullptr) return false;
    CheckParts();
    std::set<std::string> groups;
    for (int s = 0; s < task_.unknown_size(); ++s) {
      const UnknownSource& source = task_.unknown(s);
      const std::string path = absl::StrCat("unknown[", s, "]");
      if (const DataSetInfo* info = Find(path + ".data_set", source.data_set())) {
        CheckPart(path + ".part", *info, source.part());
      }
      if (!groups.insert(source.group()).second) {
        Add(path + ".group", absl::StrCat("'", source.group(), "' is the name of another source too"));
      }
      if (absl::c_linear_search(kResultsOfAll, source.group())) {
        Add(path + ".group", absl::StrCat("'", source.group(), "' is what results over several groups are called"));
      }
    }
    if (task_.has_external()) {
      if (const DataSetInfo* info = Find("external.data_set", task_.external().data_set())) {
        CheckPart("external.part", *info, task_.external().part());
        CheckPart("external.validation_part", *info, task_.external().validation_part());
        CheckClasses("external.class_id", task_.external().class_id(), *info);
      }
    }
    return problems_.empty();
  }

  void CheckSplit(int number) {
    const ClassSplit& split = task_.split(number);
    const std::string path = absl::StrCat("split[", number, "]");
    CheckClasses(path + ".known", split.known(), *known_info_);
    for (const UnknownSource& source : sources_) {
      if (split.unknown_size() > 0 && source.data_set() != sources_[0].data_set()) {
        return Add(path + ".unknown",
                   absl::StrCat("lists classes, but the sources of unknowns are of several data sets (",
                                sources_[0].data_set(), ", ", source.data_set(), ")"));
      }
    }
    CheckClasses(path + ".unknown", split.unknown(), *catalog_.Find(sources_[0].data_set()).value());
    if (sources_[0].data_set() == task_.data_set()) {
      for (int i = 0; i < split.unknown_size(); ++i) {
        if (absl::c_linear_search(split.known(), split.unknown(i))) {
          Add(absl::StrCat(path, ".unknown[", i, "]"),
              absl::StrCat("class ", split.unknown(i), " (", NameOf(*known_info_, split.unknown(i)),
                           ") is both known and unknown"));
        }
      }
    }
    for (int s = 0; s < task_.unknown_size(); ++s) {
      const DataSetInfo* info = catalog_.Find(task_.unknown(s).data_set()).value();
      if (UnknownClasses(task_, split, task_.unknown(s), *info).empty()) {
        Add(path, absl::StrCat("leaves no class to unknown[", s, "], as all are known"));
      }
    }
    if (task_.has_external()) CheckExternalClasses(path, split);
  }

  std::vector<FieldProblem> TakeProblems() { return std::move(problems_); }

 private:
  using ClassIds = google::protobuf::RepeatedField<int32_t>;

  static std::string NameOf(const DataSetInfo& info, int id) {
    return id >= 0 && id < info.class_name_size() ? info.class_name(id) : "no such class";
  }

  void Add(const std::string& path, const std::string& message) { problems_.push_back({path, message}); }

  const DataSetInfo* Find(const std::string& path, const std::string& name) {
    const absl::StatusOr<const DataSetInfo*> info = catalog_.Find(name);
    if (info.ok()) return *info;
    Add(path, std::string(info.status().message()));
    return nullptr;
  }

  // Of the known classes.
  void CheckParts() {
    std::set<std::string> used;
    const auto check = [&](const std::string& field, bool named, const std::vector<std::string>& parts) {
      for (size_t i = 0; i < parts.size(); ++i) {
        const std::string path = named ? absl::StrCat(field, "[", i, "]") : "data_set";
        CheckPart(path, *known_info_, parts[i]);
        if (!used.insert(parts[i]).second) Add(path, absl::StrCat("part '", parts[i], "' is used twice"));
      }
    };
    check("train_part", task_.train_part_size() > 0, TrainParts(task_));
    check("test_part", task_.test_part_size() > 0, TestParts(task_));
  }

  void CheckPart(const std::string& path, const DataSetInfo& info, const std::string& part) {
    const absl::Status status = FindPart(info, part).status();
    if (!status.ok()) Add(path, std::string(status.message()));
  }

  void CheckClasses(const std::string& path, const ClassIds& ids, const DataSetInfo& info) {
    std::set<int32_t> seen;
    for (int i = 0; i < ids.size(); ++i) {
      const std::string element = absl::StrCat(path, "[", i, "]");
      if (ids[i] < 0 || ids[i] >= info.class_name_size()) {
        Add(element, absl::StrCat("data set '", info.name(), "' has no class ", ids[i], " (0 to ",
                                  info.class_name_size() - 1, ")"));
      } else if (!seen.insert(ids[i]).second) {
        Add(element, absl::StrCat("class ", ids[i], " (", NameOf(info, ids[i]), ") is listed twice"));
      }
    }
  }

  // No external class is known or unknown in the split.
  void CheckExternalClasses(const std::string& path, const ClassSplit& split) {
    const std::string& data_set = task_.external().data_set();
    const DataSetInfo& info = *catalog_.Find(data_set).value();
    std::set<int> tested;
    if (data_set == task_.data_set()) tested.insert(split.known().begin(), split.known().end());
    for (const UnknownSource& source : sources_) {
      if (source.data_set() != data_set) continue;
      for (const int id : UnknownClasses(task_, split, source, info)) tested.insert(id);
    }
    for (const int id : ExternalClasses(task_.external(), info)) {
      if (tested.count(id) == 0) continue;
      return Add(path, absl::StrCat("class ", id, " (", NameOf(info, id), ") is external too; list others in ",
                                    "external.class_id"));
    }
  }

  const TaskSpec& task_;
  const Catalog& catalog_;
  const std::vector<UnknownSource> sources_;
  const DataSetInfo* known_info_ = nullptr;
  std::vector<FieldProblem> problems_;
};

absl::Status ToStatus(const std::vector<FieldProblem>& problems) {
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n", [](std::string* out, const FieldProblem& problem) {
    absl::StrAppend(out, problem.path, ": ", problem.message);
  }));
}

absl::StatusOr<Selection> Select(const Catalog& catalog, const std::string& data_set,
                                 const std::vector<std::string>& parts, const std::vector<int>& classes,
                                 int limit_per_class) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(data_set));
  Selection selection;
  selection.set_data_set(data_set);
  selection.set_part(parts[0]);
  OPENSET_ASSIGN_OR_RETURN(*selection.mutable_part_digest(), PartDigest(*info, parts[0]));
  for (size_t i = 1; i < parts.size(); ++i) {
    PartOfDataSet* more = selection.add_more();
    more->set_part(parts[i]);
    OPENSET_ASSIGN_OR_RETURN(*more->mutable_part_digest(), PartDigest(*info, parts[i]));
  }
  for (const int id : classes) selection.add_class_id(id);
  selection.set_limit_per_class(limit_per_class);
  return selection;
}

// That each class has more than `kept` samples.
absl::Status CheckSomeAreLeft(const Selection& train, int kept, const Catalog& catalog) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(train.data_set()));
  for (const int id : train.class_id()) {
    int64_t samples = 0;
    for (const PartOfDataSet& part : PartsOf(train)) {
      OPENSET_ASSIGN_OR_RETURN(const DataSetPart* found, FindPart(*info, part.part()));
      samples += SamplesOfClass(*found, id);
    }
    if (samples > kept) continue;
    return absl::InvalidArgumentError(absl::StrCat("validation_per_class: keeps ", kept,
                                                   " samples of each class, and '", info->name(), "' has ", samples,
                                                   " training samples of class ", id));
  }
  return absl::OkStatus();
}

// The external images and, if samples are kept for it, the validation data.
absl::Status AddExternal(const TaskSpec& task, const TaskRequest& request, const Catalog& catalog, TaskData* data) {
  if (request.validation_per_class > 0) {
    OPENSET_RETURN_IF_ERROR(CheckSomeAreLeft(data->train(), request.validation_per_class, catalog));
    *data->mutable_validation_known() = data->train();
    data->mutable_validation_known()->set_only_last_per_class(request.validation_per_class);
    data->mutable_validation_known()->clear_limit_per_class();
    data->mutable_train()->set_without_last_per_class(request.validation_per_class);
  }
  if (!task.has_external()) return absl::OkStatus();
  const ExternalSource& external = task.external();
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(external.data_set()));
  const std::vector<int> classes = ExternalClasses(external, *info);
  OPENSET_ASSIGN_OR_RETURN(*data->mutable_external(),
                           Select(catalog, external.data_set(), {external.part()}, classes, 0));
  if (request.validation_per_class == 0) return absl::OkStatus();
  UnknownGroup* group = data->add_validation_unknown();
  group->set_name("external");
  OPENSET_ASSIGN_OR_RETURN(
      *group->mutable_selection(),
      Select(catalog, external.data_set(), {external.validation_part()}, classes, request.validation_per_class));
  return absl::OkStatus();
}

}  // namespace

std::vector<FieldProblem> FindTaskProblems(const TaskSpec& task, const Catalog& catalog) {
  Checker checker(task, catalog);
  if (checker.CheckSources()) {
    for (int i = 0; i < task.split_size(); ++i) checker.CheckSplit(i);
  }
  return checker.TakeProblems();
}

absl::StatusOr<TaskSpec> ReadTask(const std::string& path, const Catalog& catalog) {
  TaskSpec task;
  OPENSET_ASSIGN_OR_RETURN(const TextSource source, ReadTextProto(path, &task));
  FillDefaults(&task);
  std::vector<FieldProblem> problems = FindTaskProblems(task, catalog);
  for (FieldProblem& problem : problems) problem.path = source.Where(problem.path);
  OPENSET_RETURN_IF_ERROR(ToStatus(problems));
  return task;
}

absl::StatusOr<TaskData> ResolveTask(const TaskSpec& task, const TaskRequest& request, const Catalog& catalog) {
  if (request.split < 0 || request.split >= task.split_size()) {
    return absl::InvalidArgumentError(absl::StrCat("split: task '", task.name(), "' has no split ", request.split,
                                                   " (0 to ", task.split_size() - 1, ")"));
  }
  Checker checker(task, catalog);
  if (checker.CheckSources()) checker.CheckSplit(request.split);
  OPENSET_RETURN_IF_ERROR(ToStatus(checker.TakeProblems()));

  const ClassSplit& split = task.split(request.split);
  const std::vector<int> known(split.known().begin(), split.known().end());
  TaskData data;
  OPENSET_ASSIGN_OR_RETURN(*data.mutable_train(),
                           Select(catalog, task.data_set(), TrainParts(task), known, request.train_limit_per_class));
  OPENSET_ASSIGN_OR_RETURN(*data.mutable_test_known(),
                           Select(catalog, task.data_set(), TestParts(task), known, request.test_limit_per_class));
  const std::vector<UnknownSource> sources = SourcesOf(task);
  if (request.unknown_classes > 0 && sources.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("unknown_classes: task '", task.name(), "' has ", sources.size(),
                                                   " sources of unknowns, of which all classes are used"));
  }
  for (const UnknownSource& source : sources) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(source.data_set()));
    std::vector<int> classes = UnknownClasses(task, split, source, *info);
    if (request.unknown_classes > classes.size()) {
      return absl::InvalidArgumentError(absl::StrCat("unknown_classes: ", request.unknown_classes,
                                                     " are more than the ", classes.size(), " of split ", request.split,
                                                     " of task '", task.name(), "'"));
    }
    if (request.unknown_classes > 0) classes.resize(request.unknown_classes);
    if (classes.empty()) continue;
    UnknownGroup* group = data.add_test_unknown();
    group->set_name(source.group());
    if (source.distance() != UnknownGroup::NOT_SAID) group->set_distance(source.distance());
    const std::vector<std::string> parts =
        task.unknown_size() == 0 ? TestParts(task) : std::vector<std::string>{source.part()};
    OPENSET_ASSIGN_OR_RETURN(*group->mutable_selection(),
                             Select(catalog, source.data_set(), parts, classes, request.test_limit_per_class));
  }
  OPENSET_RETURN_IF_ERROR(AddExternal(task, request, catalog, &data));
  return data;
}

double Openness(const TaskData& data) {
  std::set<std::pair<std::string, int>> unknown;
  for (const UnknownGroup& group : data.test_unknown()) {
    for (const int id : group.selection().class_id()) unknown.emplace(group.selection().data_set(), id);
  }
  return Openness(data.train().class_id_size(), unknown.size());
}

}  // namespace openset

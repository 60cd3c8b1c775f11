#include "data/splits/class_splits.h"

#include <map>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/saturated.h"
#include "core/status_macros.h"
#include "data/splits/draw_splits.h"

namespace openset {
namespace {

using Names = google::protobuf::RepeatedPtrField<std::string>;

std::vector<std::string> PartsOr(const Names& parts, const char* otherwise) {
  if (parts.empty()) return {otherwise};
  return {parts.begin(), parts.end()};
}

std::vector<std::string> Pool(const TaskSpec& task) {
  std::vector<std::string> parts = PartsOr(task.train_part(), "train");
  for (const std::string& part : PartsOr(task.test_part(), "test")) parts.push_back(part);
  return parts;
}

std::vector<int> AllClasses(const DataSetInfo& info) {
  std::vector<int> classes(info.class_name_size());
  std::iota(classes.begin(), classes.end(), 0);
  return classes;
}

}  // namespace

std::vector<UnknownSource> SourcesOf(const TaskSpec& task) {
  if (task.unknown_size() > 0) return {task.unknown().begin(), task.unknown().end()};
  UnknownSource source;
  source.set_data_set(task.data_set());
  const std::vector<std::string> parts = TestParts(task);
  source.set_part(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) source.add_more_part(parts[i]);
  return {source};
}

std::vector<std::string> TrainParts(const TaskSpec& task) {
  if (task.test_only()) return TestParts(task);
  return task.has_cross_validation() ? Pool(task) : PartsOr(task.train_part(), "train");
}

std::vector<std::string> TestParts(const TaskSpec& task) {
  return task.has_cross_validation() ? Pool(task) : PartsOr(task.test_part(), "test");
}

std::vector<int> UnknownClasses(const TaskSpec& task, const ClassSplit& split, const UnknownSource& source,
                                const DataSetInfo& info) {
  const bool of_split = task.unknown_size() == 0 || source.data_set() == task.unknown(0).data_set();
  if (split.unknown_size() > 0 && of_split) return {split.unknown().begin(), split.unknown().end()};
  if (source.class_id_size() > 0) return {source.class_id().begin(), source.class_id().end()};
  std::vector<int> classes;
  for (const int id : AllClasses(info)) {
    if (source.data_set() != task.data_set() || !absl::c_linear_search(split.known(), id)) classes.push_back(id);
  }
  return classes;
}

std::vector<int> ExternalClasses(const ExternalSource& external, const DataSetInfo& info) {
  if (external.class_id_size() > 0) return {external.class_id().begin(), external.class_id().end()};
  return AllClasses(info);
}

LabelledClasses ShiftedClasses(const ClassSplit& split, const DataSetInfo& known_info, const DataSetInfo& info) {
  std::map<std::string, int> id_of_name;
  for (int id = 0; id < info.class_name_size(); ++id) id_of_name.emplace(info.class_name(id), id);
  LabelledClasses classes;
  for (int label = 0; label < split.known_size(); ++label) {
    const auto found = id_of_name.find(known_info.class_name(split.known(label)));
    if (found == id_of_name.end()) continue;
    classes.class_id.push_back(found->second);
    classes.label.push_back(label);
  }
  return classes;
}

absl::StatusOr<std::vector<ClassSplit>> ClassSplitsOf(const TaskSpec& task, const Catalog& catalog) {
  if (!task.has_drawn()) return std::vector<ClassSplit>(task.split().begin(), task.split().end());
  const UnknownSource source = SourcesOf(task)[0];
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* known, catalog.Find(task.data_set()));
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* unknown, catalog.Find(source.data_set()));
  const bool from_list = source.class_id_size() > 0 && source.data_set() != task.data_set();
  const int unknown_classes = from_list ? source.class_id_size() : unknown->class_name_size();
  absl::StatusOr<std::vector<ClassSplit>> splits =
      DrawSplits(task.drawn(), {known->name(), known->class_name_size()}, {unknown->name(), unknown_classes});
  if (!splits.ok()) return absl::InvalidArgumentError(absl::StrCat("drawn.", splits.status().message()));
  if (!from_list) return splits;
  for (ClassSplit& split : *splits) {
    for (int32_t& id : *split.mutable_unknown()) id = source.class_id(id);
  }
  return splits;
}

int Folds(const TaskSpec& task) { return task.has_cross_validation() ? task.cross_validation().folds() : 1; }

int64_t CountSplits(const TaskSpec& task) {
  const DrawnSplits& drawn = task.drawn();
  const int64_t levels = drawn.levels() > 0 ? drawn.levels() : drawn.level_size();
  return SaturatedProduct(Folds(task),
                          task.has_drawn() ? SaturatedProduct(levels, drawn.repeats()) : task.split_size());
}

}  // namespace openset

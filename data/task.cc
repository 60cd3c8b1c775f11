#include "data/task.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/openness.h"
#include "core/proto/text_proto.h"
#include "core/saturated.h"
#include "core/status_macros.h"
#include "data/formats/part_format.h"
#include "data/selection.h"
#include "data/sets/data_set_parts.h"
#include "data/splits/class_splits.h"

namespace openset {
namespace {

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

// Returns the fold of cross-validation that is tested or, with `others`, the other ones.
Fold FoldOf(const CrossValidation& validation, int number, bool others) {
  Fold fold;
  fold.set_seed(validation.seed());
  fold.set_name("cross validation");
  fold.set_folds(validation.folds());
  fold.set_fold(number);
  fold.set_others(others);
  if (validation.tuning_shares() == 0) return fold;
  Fold* of = fold.mutable_of();
  of->set_seed(validation.seed());
  of->set_name("tuning");
  of->set_folds(validation.tuning_shares());
  of->set_others(!validation.on_tuning_share());
  return fold;
}

// Checks that each class has more than `kept` samples.
absl::Status CheckSomeAreLeft(const Selection& train, int kept, const Catalog& catalog) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(train.data_set()));
  for (const int id : train.class_id()) {
    int64_t samples = 0;
    for (const PartOfDataSet& part : PartsOf(train)) {
      OPENSET_ASSIGN_OR_RETURN(const DataSetPart* found, FindPart(*info, part.part()));
      samples += SamplesOfClass(*found, id);
    }
    samples = FoldSamples(train, samples);
    if (samples > kept) continue;
    return absl::InvalidArgumentError(absl::StrCat("validation_per_class: keeps ", kept,
                                                   " samples of each class, and '", info->name(), "' has ", samples,
                                                   " training samples of class ", id));
  }
  return absl::OkStatus();
}

// Returns all parts of a source of unknowns.
std::vector<std::string> PartsOf(const UnknownSource& source) {
  std::vector<std::string> parts = {source.part()};
  parts.insert(parts.end(), source.more_part().begin(), source.more_part().end());
  return parts;
}

// Adds the groups of unknown test samples.
absl::Status AddUnknown(const TaskSpec& task, const ClassSplit& split, const TaskRequest& request,
                        const Catalog& catalog, TaskData* data) {
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
    UnknownGroup* group = data->add_test_unknown();
    group->set_name(source.group());
    if (source.distance() != UnknownGroup::NOT_SAID) group->set_distance(source.distance());
    const bool in_pool = task.has_cross_validation() && source.data_set() == task.data_set();
    OPENSET_ASSIGN_OR_RETURN(Selection selection,
                             Select(catalog, source.data_set(), in_pool ? TestParts(task) : PartsOf(source), classes,
                                    request.test_limit_per_class));
    if (in_pool) *selection.mutable_fold() = data->test_known().fold();
    if (source.draw_samples() > 0) {
      selection.mutable_draw()->set_seed(source.draw_seed());
      selection.mutable_draw()->set_name(absl::StrCat(source.group(), "/draw"));
      selection.mutable_draw()->set_samples(source.draw_samples());
    }
    *group->mutable_selection() = std::move(selection);
  }
  return absl::OkStatus();
}

// Draws from the larger of the known and unknown test samples as many as the smaller side has.
absl::Status Balance(const TaskSpec& task, const Catalog& catalog, TaskData* data) {
  if (data->test_unknown_size() != 1 || data->test_known().has_fold() || data->test_unknown(0).selection().has_draw()) {
    return absl::InvalidArgumentError(absl::StrCat("task '", task.name(),
                                                   "': balanced_with_replacement needs one source of unknowns, no draw "
                                                   "of its own and no folds"));
  }
  Selection* sides[] = {data->mutable_test_known(), data->mutable_test_unknown(0)->mutable_selection()};
  int64_t samples[2];
  for (int s = 0; s < 2; ++s) {
    Selection all = *sides[s];
    all.clear_limit_per_class();
    OPENSET_ASSIGN_OR_RETURN(samples[s], CountSamples(all, catalog));
  }
  if (samples[0] == samples[1]) return absl::OkStatus();
  const int larger = samples[0] > samples[1] ? 0 : 1;
  Draw* draw = sides[larger]->mutable_draw();
  draw->set_seed(task.balanced_seed());
  draw->set_name(larger == 0 ? "balanced/known" : "balanced/unknown");
  draw->set_samples(samples[1 - larger]);
  draw->set_with_replacement(true);
  return absl::OkStatus();
}

// Adds the groups of shifted samples.
absl::Status AddShifted(const TaskSpec& task, const ClassSplit& split, const TaskRequest& request,
                        const Catalog& catalog, TaskData* data) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* known_info, catalog.Find(task.data_set()));
  for (const ShiftedSource& source : task.shifted()) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(source.data_set()));
    const LabelledClasses classes = ShiftedClasses(split, *known_info, *info);
    ShiftedGroup* group = data->add_test_shifted();
    group->set_name(source.group());
    OPENSET_ASSIGN_OR_RETURN(Selection selection, Select(catalog, source.data_set(), {source.part()}, classes.class_id,
                                                         request.test_limit_per_class));
    if (classes.class_id.size() < split.known_size()) {
      for (const int label : classes.label) selection.add_label(label);
    }
    *group->mutable_selection() = std::move(selection);
  }
  return absl::OkStatus();
}

// Adds the external images and, if samples are left out for it, the validation data.
absl::Status AddExternal(const TaskSpec& task, const TaskRequest& request, const Catalog& catalog, TaskData* data) {
  if (request.validation_per_class > 0 && task.test_only()) {
    return absl::InvalidArgumentError("validation_per_class: the task has no training samples (test_only)");
  }
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
  if (external.part() == external.validation_part()) {
    OPENSET_RETURN_IF_ERROR(CheckSomeAreLeft(data->external(), request.validation_per_class, catalog));
    *group->mutable_selection() = data->external();
    group->mutable_selection()->set_only_last_per_class(request.validation_per_class);
    data->mutable_external()->set_without_last_per_class(request.validation_per_class);
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(
      *group->mutable_selection(),
      Select(catalog, external.data_set(), {external.validation_part()}, classes, request.validation_per_class));
  return absl::OkStatus();
}

}  // namespace

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
  OPENSET_ASSIGN_OR_RETURN(const std::vector<ClassSplit> splits, ClassSplitsOf(task, catalog));
  return ResolveTask(task, splits, request, catalog);
}

absl::StatusOr<TaskData> ResolveTask(const TaskSpec& task, const std::vector<ClassSplit>& splits,
                                     const TaskRequest& request, const Catalog& catalog) {
  const int64_t count = SaturatedProduct(static_cast<int64_t>(splits.size()), Folds(task));
  if (request.split < 0 || request.split >= count) {
    return absl::InvalidArgumentError(
        absl::StrCat("split: task '", task.name(), "' has no split ", request.split, " (0 to ", count - 1, ")"));
  }
  const int class_split = request.split / Folds(task);
  const ClassSplit& split = splits[class_split];
  OPENSET_RETURN_IF_ERROR(ToStatus(FindSplitProblems(task, split, class_split, catalog)));

  const std::vector<int> known(split.known().begin(), split.known().end());
  TaskData data;
  OPENSET_ASSIGN_OR_RETURN(*data.mutable_train(),
                           Select(catalog, task.data_set(), TrainParts(task), known, request.train_limit_per_class));
  OPENSET_ASSIGN_OR_RETURN(*data.mutable_test_known(),
                           Select(catalog, task.data_set(), TestParts(task), known, request.test_limit_per_class));
  if (task.has_cross_validation()) {
    const int fold = request.split % Folds(task);
    *data.mutable_train()->mutable_fold() = FoldOf(task.cross_validation(), fold, /*others=*/true);
    *data.mutable_test_known()->mutable_fold() = FoldOf(task.cross_validation(), fold, /*others=*/false);
  }
  OPENSET_RETURN_IF_ERROR(AddUnknown(task, split, request, catalog, &data));
  if (task.balanced_with_replacement()) OPENSET_RETURN_IF_ERROR(Balance(task, catalog, &data));
  OPENSET_RETURN_IF_ERROR(AddShifted(task, split, request, catalog, &data));
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

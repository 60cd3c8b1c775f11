#include "data/task.h"

#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/openness.h"
#include "core/proto/text_proto.h"
#include "core/saturated.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/formats/part_format.h"
#include "data/selection.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/feature_data_set.h"
#include "data/splits/class_splits.h"
#include "google/protobuf/repeated_field.h"

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

std::string ClassText(const DataSetInfo& info, int id) { return OneLine(info.class_name(id)); }

// Calls `use` with each class's id and its number of samples in the parts, whatever the selection takes of them.
template <typename Use>
absl::Status ForEachClass(const Selection& selection, const DataSetInfo& info, const Use& use) {
  std::vector<const DataSetPart*> parts;
  for (const PartOfDataSet& part : PartsOf(selection)) {
    OPENSET_ASSIGN_OR_RETURN(parts.emplace_back(), FindPart(info, part.part()));
  }
  for (const int id : selection.class_id()) {
    int64_t samples = 0;
    for (const DataSetPart* part : parts) samples += SamplesOfClass(*part, id);
    use(id, samples);
  }
  return absl::OkStatus();
}

// Checks that each class has more than `kept` samples.
absl::Status CheckSomeAreLeft(const Selection& train, int kept, const Catalog& catalog) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(train.data_set()));
  absl::Status status;
  OPENSET_RETURN_IF_ERROR(ForEachClass(train, *info, [&](int id, int64_t all) {
    const int64_t samples = FoldSamples(train, all);
    if (samples > kept || !status.ok()) return;
    status = absl::InvalidArgumentError(
        absl::StrCat("validation_per_class: keeps ", kept, " samples of each class, and '", info->name(), "' has ",
                     samples, " training samples of class ", id, " (", ClassText(*info, id), ")"));
  }));
  return status;
}

// What a selection is for, and how a task leaves a class out of it.
struct SelectionUse {
  absl::string_view classes;  // "known class"
  absl::string_view purpose;  // "to train on"
  std::string list;           // the field that lists the classes
};

// Checks that the selection takes a sample of each of its classes; a draw may take none.
absl::Status CheckClassesHaveSamples(const Selection& selection, const SelectionUse& use, const std::string& path,
                                     const Catalog& catalog) {
  if (selection.has_draw()) return absl::OkStatus();
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(selection.data_set()));
  constexpr size_t kMostNames = 10;
  std::vector<std::string> without, with;
  int64_t of_first = 0;
  OPENSET_RETURN_IF_ERROR(ForEachClass(selection, *info, [&](int id, int64_t samples) {
    const SampleRange range = RangeOfClass(selection, FoldSamples(selection, samples));
    const bool is_empty = range.begin >= range.end;
    if (is_empty && without.empty()) of_first = samples;
    (is_empty ? without : with).push_back(ClassText(*info, id));
  }));
  if (without.empty()) return absl::OkStatus();
  const size_t number = without.size();
  if (number > kMostNames + 1) {
    without.resize(kMostNames);
    without.push_back(absl::StrCat((number - kMostNames), " others"));
  }
  const bool lists_rest = !with.empty() && with.size() <= kMostNames;
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": ", use.classes, number > 1 ? "es " : " ", absl::StrJoin(without, ", "), number > 1 ? " have" : " has",
      " no image ", use.purpose, " in ",
      absl::StrJoin(PartsOf(selection), ", ",
                    [](std::string* out, const PartOfDataSet& part) { absl::StrAppend(out, "'", part.part(), "'"); }),
      " of data set '", info->name(), "'",
      selection.has_fold() ? absl::StrCat(" (", of_first, of_first == 1 ? " image" : " images", " in ",
                                          selection.fold().folds(), " folds)")
                           : "",
      ": leave ", number > 1 ? "them" : "it", " out (", use.list, ": ", lists_rest ? absl::StrJoin(with, ", ") : "...",
      ")", selection.has_fold() ? ", use fewer folds," : ",", " or add images"));
}

// Whether the known classes are the outputs of a network, as the file of its outputs names them.
absl::StatusOr<bool> AreOutputs(const TaskSpec& task, const Catalog& catalog) {
  if (!task.test_only()) return false;
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(task.data_set()));
  return HasFeatures(*info);
}

// Checks the samples to test on and to choose by, so that no training is spent on a test that can't be made.
absl::Status CheckTestSamples(const TaskSpec& task, const TaskData& data, int split, const Catalog& catalog) {
  const std::string path = absl::StrCat("split ", split);
  OPENSET_ASSIGN_OR_RETURN(const bool are_outputs, AreOutputs(task, catalog));
  if (!are_outputs) {
    OPENSET_RETURN_IF_ERROR(
        CheckClassesHaveSamples(data.test_known(), {"known class", "to test on", "known"}, path, catalog));
  }
  for (const UnknownGroup& group : data.test_unknown()) {
    OPENSET_RETURN_IF_ERROR(
        CheckClassesHaveSamples(group.selection(), {"unknown class", "to test on", "unknown"}, path, catalog));
  }
  for (const ShiftedGroup& group : data.test_shifted()) {
    OPENSET_RETURN_IF_ERROR(
        CheckClassesHaveSamples(group.selection(), {"shifted class", "to test on", "known"}, path, catalog));
  }
  for (const UnknownGroup& group : data.validation_unknown()) {
    OPENSET_RETURN_IF_ERROR(CheckClassesHaveSamples(
        group.selection(), {"external class", "for validation", "external.class_id"}, path, catalog));
  }
  return absl::OkStatus();
}

// Returns all parts of a source of unknowns.
std::vector<std::string> PartsOf(const UnknownSource& source) {
  std::vector<std::string> parts = {source.part()};
  parts.insert(parts.end(), source.more_part().begin(), source.more_part().end());
  return parts;
}

// Removes the classes of which the parts have no sample; keeps all if they have none of any class.
absl::Status RemoveEmptyClasses(const DataSetInfo& info, const std::vector<std::string>& parts,
                                std::vector<int>* classes) {
  std::vector<int> kept;
  for (const int id : *classes) {
    int64_t samples = 0;
    for (const std::string& part : parts) {
      OPENSET_ASSIGN_OR_RETURN(const DataSetPart* found, FindPart(info, part));
      samples += SamplesOfClass(*found, id);
    }
    if (samples > 0) kept.push_back(id);
  }
  if (!kept.empty()) *classes = std::move(kept);
  return absl::OkStatus();
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
    // All classes of another data set means the classes of which its parts have images; the groups of a file of
    // features are classes of it.
    const bool takes_all = classes.size() == info->class_name_size() && source.data_set() != task.data_set();
    const bool takes_rest = HasFeatures(*info) && split.unknown_size() == 0 && source.class_id_size() == 0;
    if ((takes_all || takes_rest) && source.draw_samples() == 0) {
      OPENSET_RETURN_IF_ERROR(RemoveEmptyClasses(*info, PartsOf(source), &classes));
    }
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
    if (source.as_stored()) selection.set_as_stored(true);
    *group->mutable_selection() = std::move(selection);
  }
  return absl::OkStatus();
}

// Adds the external images and, if samples are left out for it, the validation data.
absl::Status AddExternal(const TaskSpec& task, const TaskRequest& request, const Catalog& catalog, TaskData* data) {
  if (request.validation_per_class > 0 && task.test_only() && !task.has_validation_part()) {
    return absl::InvalidArgumentError(
        "validation_per_class: the task has no training samples (test_only) and no validation_part");
  }
  if (request.validation_per_class > 0 && task.has_validation_part()) {
    const std::vector<int> known(data->train().class_id().begin(), data->train().class_id().end());
    OPENSET_ASSIGN_OR_RETURN(
        *data->mutable_validation_known(),
        Select(catalog, task.data_set(), {task.validation_part()}, known, request.validation_per_class));
  } else if (request.validation_per_class > 0) {
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
  bool in_folds = false;
  if (!task.test_only()) {
    OPENSET_ASSIGN_OR_RETURN(*data->mutable_external(),
                             Select(catalog, external.data_set(), {external.part()}, classes, 0));
    const std::vector<std::string> pool = TrainParts(task);
    OPENSET_ASSIGN_OR_RETURN(const DataSetPart* part, FindPart(*info, external.part()));
    in_folds = task.has_cross_validation() && external.data_set() == task.data_set() &&
               absl::c_linear_search(pool, external.part()) && HasClusters(*part);
    if (in_folds) {
      OPENSET_ASSIGN_OR_RETURN(*data->mutable_external(), Select(catalog, external.data_set(), pool, classes, 0));
      *data->mutable_external()->mutable_fold() = data->train().fold();
    }
  }
  if (request.validation_per_class == 0) return absl::OkStatus();
  UnknownGroup* group = data->add_validation_unknown();
  group->set_name("external");
  if (in_folds || (data->has_external() && external.part() == external.validation_part())) {
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

// "features:PATH" is relative to the task's folder.
void MakeFeaturesAbsolute(const std::filesystem::path& folder, TaskSpec* task) {
  std::vector<std::string*> names = {task->mutable_data_set()};
  for (UnknownSource& source : *task->mutable_unknown()) names.push_back(source.mutable_data_set());
  for (ShiftedSource& source : *task->mutable_shifted()) names.push_back(source.mutable_data_set());
  if (task->has_external()) names.push_back(task->mutable_external()->mutable_data_set());
  for (std::string* name : names) {
    absl::string_view file = *name;
    std::error_code error;
    if (!absl::ConsumePrefix(&file, kFeaturesPrefix)) continue;
    const std::filesystem::path path = std::filesystem::absolute(folder / std::string(file), error).lexically_normal();
    if (!error) *name = absl::StrCat(kFeaturesPrefix, path.string());
  }
}

// Whether the ids of the data set's classes are the order of folders at a path, where a user may add one.
bool IsOwnFolder(const DataSetInfo& info) {
  for (const DataSetLayout& layout : info.layout()) {
    for (const DataSetPart& part : layout.part()) {
      if (std::filesystem::path(part.image_folder().path()).is_absolute()) return true;
    }
  }
  return false;
}

// The hint on a list of ids, which names its first classes; "" if there is nothing to say. `field`: the list of names.
std::string IdHint(const google::protobuf::RepeatedField<int32_t>& ids, const std::string& field,
                   const std::string& data_set, const Catalog& catalog) {
  constexpr int kMostNamed = 8;
  const absl::StatusOr<const DataSetInfo*> info = catalog.Find(data_set);
  if (ids.empty() || !info.ok() || !IsOwnFolder(**info)) return "";
  std::vector<std::string> meant, names;
  for (const int id : ids) {
    if (id < 0 || id >= (*info)->class_name_size()) return "";  // an error names it
    if (static_cast<int>(names.size()) == kMostNamed) continue;
    meant.push_back(absl::StrCat(id, " is '", OneLine((*info)->class_name(id)), "'"));
    names.push_back(absl::StrCat("\"", absl::Utf8SafeCEscape((*info)->class_name(id)), "\""));
  }
  const char* const rest = ids.size() > kMostNamed ? ", ..." : "";
  return absl::StrCat(absl::StrJoin(meant, ", "), rest,
                      " today, and another class if one is added to the folder: write ", field, ": ",
                      ids.size() == 1 ? names[0] : absl::StrCat("[", absl::StrJoin(names, ", "), rest, "]"));
}

// The hints on the first split with ids. Precondition: the names are not yet resolved.
std::vector<std::string> IdHints(const TaskSpec& task, const TextSource& source, const Catalog& catalog) {
  std::vector<std::string> hints;
  if (HasFilesOfSplits(task)) return hints;
  for (int s = 0; s < task.split_size() && hints.empty(); ++s) {
    const ClassSplit& split = task.split(s);
    const std::string path = absl::StrCat("split[", s, "].");
    const auto add = [&](const std::string& field, const std::string& hint) {
      if (!hint.empty()) hints.push_back(absl::StrCat(source.Where(path + field), ": ", hint));
    };
    add("known", IdHint(split.known(), "known_class", task.data_set(), catalog));
    add("unknown", IdHint(split.unknown(), "unknown_class", SourcesOf(task)[0].data_set(), catalog));
  }
  return hints;
}

}  // namespace

absl::StatusOr<TaskSpec> ReadTask(const std::string& path, const Catalog& catalog, std::vector<std::string>* hints) {
  TaskSpec task;
  OPENSET_ASSIGN_OR_RETURN(const TextSource source, ReadTextProto(path, &task));
  FillDefaults(&task);
  MakeFeaturesAbsolute(std::filesystem::path(path).parent_path(), &task);
  if (hints != nullptr) *hints = IdHints(task, source, catalog);
  std::vector<FieldProblem> problems = ResolveClassNames(catalog, &task);
  if (problems.empty()) problems = FindTaskProblems(task, catalog);
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
  if (HasFilesOfSplits(task)) return ResolveTask(TaskOfSplit(task, class_split), splits, request, catalog);
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
  OPENSET_RETURN_IF_ERROR(CheckTestSamples(task, data, request.split, catalog));
  return data;
}

absl::Status CheckTrainingSamples(const TaskData& data, int split, bool with_external, const Catalog& catalog) {
  const std::string path = absl::StrCat("split ", split);
  OPENSET_RETURN_IF_ERROR(
      CheckClassesHaveSamples(data.train(), {"known class", "to train on", "known"}, path, catalog));
  if (!with_external || !data.has_external()) return absl::OkStatus();
  return CheckClassesHaveSamples(data.external(), {"external class", "to train on", "external.class_id"}, path,
                                 catalog);
}

double Openness(const TaskData& data) {
  std::set<std::pair<std::string, int>> unknown;
  for (const UnknownGroup& group : data.test_unknown()) {
    for (const int id : group.selection().class_id()) unknown.emplace(group.selection().data_set(), id);
  }
  return Openness(data.train().class_id_size(), unknown.size());
}

}  // namespace openset

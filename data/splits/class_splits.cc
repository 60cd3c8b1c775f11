#include "data/splits/class_splits.h"

#include <map>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "core/random.h"
#include "core/saturated.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"
#include "data/class_names.h"
#include "data/sets/feature_data_set.h"

namespace openset {
namespace {

using google::protobuf::RepeatedField;
using google::protobuf::RepeatedPtrField;

// Weights of the numbers 0, 1, ..., whose sums are computed in O(log n) (a Fenwick tree).
class WeightSums {
 public:
  explicit WeightSums(const std::vector<uint64_t>& weight) : sum_(weight.size() + 1) {
    for (size_t i = 1; i < sum_.size(); ++i) {
      sum_[i] += weight[i - 1];
      total_ += weight[i - 1];
      if (const size_t above = i + (i & -i); above < sum_.size()) sum_[above] += sum_[i];
    }
  }

  uint64_t total() const { return total_; }

  // Returns the first number for which the sum of the weights up to and including its own is more than `point`.
  // Precondition: point < total().
  int Find(uint64_t point) const {
    size_t at = 0, step = 1;
    while (2 * step < sum_.size()) step *= 2;
    for (; step > 0; step /= 2) {
      if (at + step >= sum_.size() || sum_[at + step] > point) continue;
      at += step;
      point -= sum_[at];
    }
    return static_cast<int>(at);
  }

  void TakeAway(int number, uint64_t weight) {
    total_ -= weight;
    for (size_t i = number + 1; i < sum_.size(); i += i & -i) sum_[i] -= weight;
  }

 private:
  std::vector<uint64_t> sum_;  // sums of the last (i & -i) weights before i
  uint64_t total_ = 0;
};

// The data set's name in names of streams: a file of features may be moved.
std::string NameInStreams(const std::string& data_set) {
  return absl::StartsWith(data_set, kFeaturesPrefix) ? std::string(kFeaturesPrefix) : data_set;
}

// Draws `n` of the numbers 0, 1, ... without replacement, each with probability proportional to its weight among those
// that are left. Precondition: at least `n` weights are positive.
std::vector<int> DrawByWeight(const std::vector<uint64_t>& weight, int n, RandomStream* random) {
  WeightSums left(weight);
  std::vector<int> drawn;
  while (static_cast<int>(drawn.size()) < n) {
    const int chosen = left.Find(random->Below(left.total()));
    left.TakeAway(chosen, weight[chosen]);
    drawn.push_back(chosen);
  }
  return drawn;
}

// Draws `n` of the classes 0 to `classes` - 1.
std::vector<int> DrawClasses(DrawnSplits::ClassWeight class_weight, int classes, int n, RandomStream* random) {
  if (class_weight == DrawnSplits::CLASS_ID) {
    std::vector<uint64_t> weight(classes);
    std::iota(weight.begin(), weight.end(), 0);
    return DrawByWeight(weight, n, random);
  }
  const std::vector<int64_t> order = random->Permutation(classes);
  return {order.begin(), order.begin() + n};
}

// Returns how many classes of a pool can be drawn.
int Drawable(const DrawnSplits& rule, const ClassPool& pool) {
  return rule.class_weight() == DrawnSplits::CLASS_ID ? pool.classes - 1 : pool.classes;
}

}  // namespace

std::vector<OpennessLevel> PossibleLevels(const DrawnSplits& rule, const ClassPool& known, const ClassPool& unknown) {
  const bool one_data_set = known.data_set == unknown.data_set;
  std::vector<OpennessLevel> levels;
  for (int k = rule.min_known(); k < known.classes; ++k) {
    const int most = one_data_set ? known.classes - k : unknown.classes - 1;
    for (int u = 1; u <= most; ++u) {
      OpennessLevel& level = levels.emplace_back();
      level.set_known(k);
      level.set_unknown(u);
    }
  }
  return levels;
}

absl::StatusOr<std::vector<OpennessLevel>> LevelsOf(const DrawnSplits& rule, const ClassPool& known,
                                                    const ClassPool& unknown) {
  if ((rule.level_size() > 0) == (rule.levels() > 0)) {
    return absl::InvalidArgumentError("level: list the levels, or set `levels` to the number to draw");
  }
  std::vector<OpennessLevel> levels(rule.level().begin(), rule.level().end());
  if (rule.levels() > 0) {
    constexpr int64_t kMostPossible = 10000000;
    const int64_t most = SaturatedProduct(known.classes, unknown.classes);
    if (most > kMostPossible) {
      return absl::InvalidArgumentError(absl::StrCat("levels: ", known.classes, " known and ", unknown.classes,
                                                     " unknown classes have too many levels to draw from; list some in "
                                                     "`level`"));
    }
    const std::vector<OpennessLevel> possible = PossibleLevels(rule, known, unknown);
    if (rule.levels() > possible.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("levels: ", rule.levels(), " are more than the ", possible.size(), " that are possible"));
    }
    std::vector<uint64_t> weight;
    for (const OpennessLevel& level : possible) weight.push_back(level.known() + level.unknown());
    RandomStream random(rule.seed(), absl::StrCat(NameInStreams(known.data_set), "/levels"));
    for (const int chosen : DrawByWeight(weight, rule.levels(), &random)) levels.push_back(possible[chosen]);
  }
  const bool one_data_set = known.data_set == unknown.data_set;
  for (size_t i = 0; i < levels.size(); ++i) {
    const int of_known = levels[i].known() + (one_data_set ? levels[i].unknown() : 0);
    const bool fits = of_known <= Drawable(rule, known) && levels[i].unknown() <= Drawable(rule, unknown);
    if (fits) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        rule.levels() > 0 ? "levels" : absl::StrCat("level[", i, "]"), ": ", levels[i].known(), " known and ",
        levels[i].unknown(), " unknown classes can't be drawn: '", known.data_set, "' has ", known.classes, " classes",
        one_data_set ? "" : absl::StrCat(", '", unknown.data_set, "' ", unknown.classes),
        rule.class_weight() == DrawnSplits::CLASS_ID ? ", and class 0 has weight 0" : ""));
  }
  return levels;
}

absl::StatusOr<std::vector<ClassSplit>> DrawSplits(const DrawnSplits& rule, const ClassPool& known,
                                                   const ClassPool& unknown) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<OpennessLevel> levels, LevelsOf(rule, known, unknown));
  std::vector<ClassSplit> splits;
  for (const OpennessLevel& level : levels) {
    for (int r = 0; r < rule.repeats(); ++r) {
      RandomStream random(rule.seed(), absl::StrCat(NameInStreams(known.data_set), "/known ", level.known(),
                                                    ", unknown ", level.unknown(), "/draw ", r));
      ClassSplit& split = splits.emplace_back();
      const int first = known.data_set == unknown.data_set ? level.known() + level.unknown() : level.known();
      const std::vector<int> drawn = DrawClasses(rule.class_weight(), known.classes, first, &random);
      for (int i = 0; i < first; ++i) i < level.known() ? split.add_known(drawn[i]) : split.add_unknown(drawn[i]);
      if (first > level.known()) continue;
      for (const int id : DrawClasses(rule.class_weight(), unknown.classes, level.unknown(), &random)) {
        split.add_unknown(id);
      }
    }
  }
  return splits;
}

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

constexpr absl::string_view kSplitPlace = "{split}";

// Calls use(name) for the name of each data set.
template <typename Use>
void ForEachDataSet(TaskSpec* task, const Use& use) {
  use(task->mutable_data_set());
  for (UnknownSource& source : *task->mutable_unknown()) use(source.mutable_data_set());
  for (ShiftedSource& source : *task->mutable_shifted()) use(source.mutable_data_set());
  if (task->has_external()) use(task->mutable_external()->mutable_data_set());
}

}  // namespace

bool HasFilesOfSplits(const TaskSpec& task) {
  bool has = absl::StrContains(task.data_set(), kSplitPlace);
  for (const UnknownSource& source : task.unknown()) has |= absl::StrContains(source.data_set(), kSplitPlace);
  for (const ShiftedSource& source : task.shifted()) has |= absl::StrContains(source.data_set(), kSplitPlace);
  return has || absl::StrContains(task.external().data_set(), kSplitPlace);
}

TaskSpec TaskOfSplit(const TaskSpec& task, int class_split) {
  TaskSpec of_split = task;
  ForEachDataSet(&of_split, [&](std::string* name) {
    *name = absl::StrReplaceAll(*name, {{kSplitPlace, absl::StrCat(class_split)}});
  });
  return of_split;
}

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
  if (task.has_fit_part()) return {task.fit_part()};
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

std::vector<FieldProblem> ResolveClassNames(const Catalog& catalog, TaskSpec* task) {
  std::vector<FieldProblem> problems;
  std::map<std::string, ClassesByName> data_sets;
  const auto resolve = [&](const std::string& path, const std::string& data_set, RepeatedPtrField<std::string>* names,
                           RepeatedField<int32_t>* ids) {
    const absl::StatusOr<const DataSetInfo*> info = catalog.Find(data_set);
    if (names->empty() || !info.ok()) return;
    if (!ids->empty()) {
      problems.push_back({path, "the classes are listed by their ids, too: remove one of the lists"});
      return;
    }
    const ClassesByName& classes = data_sets.try_emplace(data_set, **info).first->second;
    for (int i = 0; i < names->size(); ++i) {
      const std::vector<int> found = classes.Find(names->Get(i));
      if (found.size() == 1) {
        ids->Add(found[0]);
        continue;
      }
      const std::string problem = found.empty()
                                      ? UnknownName("class", OneLine(names->Get(i)),
                                                    {(*info)->class_name().begin(), (*info)->class_name().end()},
                                                    absl::StrCat("openset show data ", data_set))
                                      : absl::StrCat("classes ", absl::StrJoin(found, " and "), " have the name '",
                                                     OneLine(names->Get(i)), "' in two forms of Unicode: list ids");
      problems.push_back({absl::StrCat(path, "[", i, "]"), absl::StrCat("data set '", data_set, "': ", problem)});
    }
    names->Clear();
  };
  for (int s = 0; s < task->split_size(); ++s) {
    ClassSplit* split = task->mutable_split(s);
    if (split->known_class().empty() && split->unknown_class().empty()) continue;
    const TaskSpec copy = HasFilesOfSplits(*task) ? TaskOfSplit(*task, s) : TaskSpec();
    const TaskSpec& of_split = HasFilesOfSplits(*task) ? copy : *task;
    const std::string path = absl::StrCat("split[", s, "].");
    resolve(path + "known_class", of_split.data_set(), split->mutable_known_class(), split->mutable_known());
    resolve(path + "unknown_class", SourcesOf(of_split)[0].data_set(), split->mutable_unknown_class(),
            split->mutable_unknown());
  }
  return problems;
}

absl::StatusOr<std::vector<ClassSplit>> ClassSplitsOf(const TaskSpec& task, const Catalog& catalog) {
  if (!task.has_drawn()) return std::vector<ClassSplit>(task.split().begin(), task.split().end());
  const UnknownSource source = SourcesOf(task)[0];
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* known, catalog.Find(task.data_set()));
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* unknown, catalog.Find(source.data_set()));
  const bool from_list = source.class_id_size() > 0 && source.data_set() != task.data_set();
  const auto drawable = [](const DataSetInfo& info) { return info.class_name_size() - info.unknown_classes(); };
  const int unknown_classes = from_list ? source.class_id_size() : drawable(*unknown);
  absl::StatusOr<std::vector<ClassSplit>> splits =
      DrawSplits(task.drawn(), {known->name(), drawable(*known)}, {unknown->name(), unknown_classes});
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

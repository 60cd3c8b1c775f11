#include "data/selection.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/sets/feature_data_set.h"

namespace openset {

std::vector<PartOfDataSet> PartsOf(const Selection& selection) {
  std::vector<PartOfDataSet> parts(1);
  parts[0].set_part(selection.part());
  if (selection.has_part_digest()) parts[0].set_part_digest(selection.part_digest());
  parts.insert(parts.end(), selection.more().begin(), selection.more().end());
  return parts;
}

std::vector<const Selection*> TestSelections(const TaskData& data) {
  std::vector<const Selection*> selections = {&data.test_known()};
  for (const UnknownGroup& group : data.test_unknown()) selections.push_back(&group.selection());
  for (const ShiftedGroup& group : data.test_shifted()) selections.push_back(&group.selection());
  return selections;
}

namespace {

bool IsOfArrays(const Selection& selection) { return absl::StartsWith(selection.data_set(), kFeaturesPrefix); }

void KeepFileName(Selection* selection) {
  if (!IsOfArrays(*selection)) return;
  const std::filesystem::path path = selection->data_set().substr(kFeaturesPrefix.size());
  selection->set_data_set(absl::StrCat(kFeaturesPrefix, path.filename().string()));
}

}  // namespace

void KeepFileNames(TaskData* data) {
  if (data->has_train()) KeepFileName(data->mutable_train());
  if (data->has_test_known()) KeepFileName(data->mutable_test_known());
  if (data->has_external()) KeepFileName(data->mutable_external());
  if (data->has_validation_known()) KeepFileName(data->mutable_validation_known());
  for (UnknownGroup& group : *data->mutable_test_unknown()) KeepFileName(group.mutable_selection());
  for (UnknownGroup& group : *data->mutable_validation_unknown()) KeepFileName(group.mutable_selection());
  for (ShiftedGroup& group : *data->mutable_test_shifted()) KeepFileName(group.mutable_selection());
}

namespace {

int64_t SamplesOf(const Fold& fold, int64_t samples) {
  if (fold.has_of()) samples = SamplesOf(fold.of(), samples);
  const int64_t inside = samples > fold.fold() ? (samples - fold.fold() + fold.folds() - 1) / fold.folds() : 0;
  return fold.others() ? samples - inside : inside;
}

int64_t LimitOf(const Selection& selection, int64_t samples) {
  return selection.limit_per_class() > 0 ? std::min<int64_t>(samples, selection.limit_per_class()) : samples;
}

}  // namespace

int64_t FoldSamples(const Selection& selection, int64_t samples) {
  return selection.has_fold() ? SamplesOf(selection.fold(), samples) : samples;
}

SampleRange RangeOfClass(const Selection& selection, int64_t samples) {
  SampleRange range{0, samples};
  if (selection.only_last_per_class() > 0) {
    range.begin = std::max<int64_t>(0, samples - selection.only_last_per_class());
  } else {
    range.end = std::max<int64_t>(0, samples - selection.without_last_per_class());
  }
  range.end = range.begin + LimitOf(selection, range.end - range.begin);
  return range;
}

bool DividesClasses(const Selection& selection) {
  return selection.has_fold() || selection.only_last_per_class() > 0 || selection.without_last_per_class() > 0;
}

namespace {

// "part 'train' of data set 'x' has", "parts 'train', 'test' of data set 'x' have".
std::string PartsHave(const Selection& selection) {
  return absl::StrCat(selection.more_size() > 0 ? "parts '" : "part '",
                      absl::StrJoin(PartsOf(selection), "', '",
                                    [](std::string* out, const PartOfDataSet& part) { out->append(part.part()); }),
                      "' of data set '", selection.data_set(), selection.more_size() > 0 ? "' have" : "' has");
}

// Returns the positions in the index that the selection lists, or all, in the selection's order and of any class.
absl::StatusOr<std::vector<int64_t>> Listed(const SampleIndex& index, const Selection& selection) {
  if (selection.index_size() == 0) {
    std::vector<int64_t> all(index.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<bool> seen(index.size(), false);
  for (int i = 0; i < selection.index_size(); ++i) {
    const int64_t place = selection.index(i);
    if (place < 0 || place >= index.size()) {
      return absl::InvalidArgumentError(absl::StrCat("index[", i, "]: ", PartsHave(selection), " no sample ", place,
                                                     " (0 to ", index.size() - 1, ")"));
    }
    if (seen[place])
      return absl::InvalidArgumentError(absl::StrCat("index[", i, "]: sample ", place, " is listed twice"));
    seen[place] = true;
  }
  return std::vector<int64_t>(selection.index().begin(), selection.index().end());
}

// Returns a class's positions that are in the fold.
std::vector<int64_t> InFold(const Fold& fold, int32_t class_id, std::vector<int64_t> places) {
  if (fold.has_of()) places = InFold(fold.of(), class_id, std::move(places));
  RandomStream random(fold.seed(), absl::StrCat(fold.name(), "/class ", class_id));
  const std::vector<int64_t> order = random.Permutation(static_cast<int64_t>(places.size()));
  std::vector<bool> inside(places.size());
  for (size_t p = 0; p < places.size(); ++p) {
    inside[order[p]] = (static_cast<int>(p % fold.folds()) == fold.fold()) != fold.others();
  }
  std::vector<int64_t> kept;
  for (size_t i = 0; i < places.size(); ++i) {
    if (inside[i]) kept.push_back(places[i]);
  }
  return kept;
}

// Which of the samples `listed` a selection may use, if there are clusters; whole clusters are in or out.
class ClusterFilter {
 public:
  ClusterFilter(const SampleIndex& index, const std::vector<int64_t>& listed)
      : index_(index), listed_(listed), kept_(listed.size(), true) {}

  bool Keeps(int64_t i) const { return kept_[i]; }

  // Keeps the clusters of the fold (Fold in task.proto). Returns, for each class, the first fold without a sample of
  // it.
  std::map<int32_t, int64_t> KeepFold(const Fold& fold) {
    if (fold.has_of()) KeepFold(fold.of());
    std::vector<std::vector<int64_t>> clusters = Clusters();
    RandomStream random(fold.seed(), absl::StrCat(fold.name(), "/clusters"));
    std::vector<int64_t> order = random.Permutation(static_cast<int64_t>(clusters.size()));
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return clusters[a].size() > clusters[b].size(); });
    const auto folds = static_cast<size_t>(fold.folds());
    std::map<int32_t, std::vector<int64_t>> of_class;  // samples of each class in each fold
    std::vector<int64_t> of_all(folds, 0);
    for (const int64_t cluster : order) {
      std::vector<int64_t> alike(folds, 0);  // pairs of a sample of the cluster and one of its class in the fold
      for (const int64_t i : clusters[cluster]) {
        const std::vector<int64_t>& samples = of_class.try_emplace(Label(i), folds, 0).first->second;
        for (size_t f = 0; f < folds; ++f) alike[f] += samples[f];
      }
      size_t best = 0;
      for (size_t f = 1; f < folds; ++f) {
        if (std::pair(alike[f], of_all[f]) < std::pair(alike[best], of_all[best])) best = f;
      }
      for (const int64_t i : clusters[cluster]) {
        kept_[i] = (static_cast<int32_t>(best) == fold.fold()) != fold.others();
        ++of_class[Label(i)][best];
        ++of_all[best];
      }
    }
    std::map<int32_t, int64_t> empty;
    for (const auto& [label, samples] : of_class) {
      const auto none = std::find(samples.begin(), samples.end(), 0);
      if (none != samples.end()) empty[label] = none - samples.begin();
    }
    return empty;
  }

  // Keeps the clusters for validation, or with `others` all others (Selection.only_last_per_class in task.proto).
  void KeepLast(int64_t per_class, bool others) {
    std::vector<bool> last(listed_.size(), false);
    std::unordered_map<int32_t, int64_t> of_class;
    const std::vector<std::vector<int64_t>> clusters = Clusters();
    std::vector<const std::vector<int64_t>*> cluster_of(listed_.size());
    for (const std::vector<int64_t>& cluster : clusters) {
      for (const int64_t i : cluster) cluster_of[i] = &cluster;
    }
    for (auto i = static_cast<int64_t>(listed_.size()) - 1; i >= 0; --i) {
      if (!kept_[i] || last[i] || of_class[Label(i)] >= per_class) continue;
      for (const int64_t together : *cluster_of[i]) {
        last[together] = true;
        ++of_class[Label(together)];
      }
    }
    for (size_t i = 0; i < kept_.size(); ++i) kept_[i] = kept_[i] && last[i] != others;
  }

  // Returns the number of clusters that have samples of a class, kept or not.
  int64_t ClustersWith(int32_t label) const {
    std::unordered_set<int64_t> clusters;
    for (const int64_t place : listed_) {
      if (index_.label[place] == label) clusters.insert(index_.cluster[place]);
    }
    return static_cast<int64_t>(clusters.size());
  }

 private:
  int32_t Label(int64_t i) const { return index_.label[listed_[i]]; }

  // The kept samples of each cluster, in the order of the clusters' first ones.
  std::vector<std::vector<int64_t>> Clusters() const {
    std::unordered_map<int64_t, size_t> number;
    std::vector<std::vector<int64_t>> clusters;
    for (size_t i = 0; i < listed_.size(); ++i) {
      if (!kept_[i]) continue;
      const auto [entry, is_new] = number.try_emplace(index_.cluster[listed_[i]], clusters.size());
      if (is_new) clusters.emplace_back();
      clusters[entry->second].push_back(static_cast<int64_t>(i));
    }
    return clusters;
  }

  const SampleIndex& index_;
  const std::vector<int64_t>& listed_;
  std::vector<bool> kept_;
};

// Replaces each class's positions by those drawn. A position that is drawn twice is there twice.
void DrawWithReplacement(const Draw& draw, const std::vector<int64_t>& all,
                         std::vector<std::vector<int64_t>>* of_class) {
  if (all.empty()) return;
  RandomStream random(draw.seed(), draw.name());
  std::unordered_map<int64_t, int64_t> times;
  for (int64_t i = 0; i < draw.samples(); ++i) ++times[all[random.Below(all.size())]];
  for (std::vector<int64_t>& places : *of_class) {
    std::vector<int64_t> drawn;
    for (const int64_t place : places) drawn.insert(drawn.end(), times.count(place) > 0 ? times[place] : 0, place);
    places = std::move(drawn);
  }
}

// Reduces each class's positions to those that are drawn from all classes together.
void DrawSome(const Draw& draw, std::vector<std::vector<int64_t>>* of_class) {
  std::vector<int64_t> all;
  for (const std::vector<int64_t>& places : *of_class) all.insert(all.end(), places.begin(), places.end());
  std::sort(all.begin(), all.end());
  if (draw.with_replacement()) return DrawWithReplacement(draw, all, of_class);
  if (draw.samples() >= static_cast<int64_t>(all.size())) return;
  std::vector<int64_t> order = RandomStream(draw.seed(), draw.name()).Permutation(static_cast<int64_t>(all.size()));
  std::unordered_set<int64_t> drawn;
  for (int64_t i = 0; i < draw.samples(); ++i) drawn.insert(all[order[i]]);
  for (std::vector<int64_t>& places : *of_class) {
    places.erase(std::remove_if(places.begin(), places.end(), [&](int64_t place) { return drawn.count(place) == 0; }),
                 places.end());
  }
}

absl::Status CheckFold(const Fold& fold, const std::string& path) {
  if (fold.fold() >= fold.folds()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ".fold: there is no fold ", fold.fold(), " (0 to ", fold.folds() - 1, ")"));
  }
  return fold.has_of() ? CheckFold(fold.of(), path + ".of") : absl::OkStatus();
}

absl::StatusOr<std::unordered_map<int32_t, int64_t>> LabelsOfClasses(const Selection& selection) {
  std::unordered_map<int32_t, int64_t> label_of_class;
  for (int i = 0; i < selection.class_id_size(); ++i) {
    if (!label_of_class.emplace(selection.class_id(i), i).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("class_id[", i, "]: class ", selection.class_id(i), " is listed twice"));
    }
  }
  return label_of_class;
}

// "class 3 (cat)".
std::string ClassText(int32_t id, const DataSetInfo* info) {
  const bool has_name = info != nullptr && id >= 0 && id < info->class_name_size();
  return absl::StrCat("class ", id, has_name ? absl::StrCat(" (", OneLine(info->class_name(id)), ")") : "");
}

// Returns the error for a class without selected samples. Its parts have `total` samples of class `label`, and `left`
// of them are in the fold.
absl::Status NoneLeft(const Selection& selection, int64_t label, int64_t total, int64_t left, const DataSetInfo* info) {
  const std::string samples = total == 0  ? "no sample"
                              : left == 0 ? absl::StrCat("only ", total, " samples, none of them in the fold,")
                                          : absl::StrCat("only the ", left, " samples that are kept for validation");
  return absl::InvalidArgumentError(absl::StrCat("class_id[", label, "]: ", PartsHave(selection), " ", samples, " of ",
                                                 ClassText(selection.class_id(static_cast<int>(label)), info)));
}

// Keeps the clusters of the fold, and those for validation or the others. Errors: kInvalidArgument for a class of which
// a fold, or the training, gets no sample.
absl::Status KeepClusters(const Selection& selection, const DataSetInfo* info, ClusterFilter* filter) {
  std::map<int32_t, int64_t> empty;
  if (selection.has_fold()) empty = filter->KeepFold(selection.fold());
  for (int c = 0; c < selection.class_id_size() && !selection.has_draw(); ++c) {
    const auto found = empty.find(selection.class_id(c));
    if (found == empty.end()) continue;
    const int64_t clusters = filter->ClustersWith(found->first);
    return absl::InvalidArgumentError(absl::StrCat(
        "class_id[", c, "]: ", PartsHave(selection), " samples of ", ClassText(found->first, info), " in ", clusters,
        clusters == 1 ? " cluster" : " clusters", ", which are not divided, and fold ", found->second, " of ",
        selection.fold().folds(), " gets none: use fewer folds, leave the class out, or divide its clusters"));
  }
  const int64_t last = std::max(selection.only_last_per_class(), selection.without_last_per_class());
  if (last > 0) filter->KeepLast(last, selection.only_last_per_class() == 0);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SelectedSamples> SelectSamples(const SampleIndex& index, const Selection& selection,
                                              const DataSetInfo* info) {
  if (selection.has_fold()) OPENSET_RETURN_IF_ERROR(CheckFold(selection.fold(), "fold"));
  if (selection.label_size() > 0 && selection.label_size() != selection.class_id_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("label: has ", selection.label_size(), " labels of ", selection.class_id_size(), " classes"));
  }
  OPENSET_ASSIGN_OR_RETURN(const auto label_of_class, LabelsOfClasses(selection));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<int64_t> listed, Listed(index, selection));
  // Positions in `listed` of each class's samples.
  std::vector<std::vector<int64_t>> of_class(selection.class_id_size());
  for (size_t i = 0; i < listed.size(); ++i) {
    const auto found = label_of_class.find(index.label[listed[i]]);
    if (found != label_of_class.end()) {
      of_class[found->second].push_back(static_cast<int64_t>(i));
    } else if (selection.index_size() > 0) {
      return absl::InvalidArgumentError(absl::StrCat("index[", i, "]: sample ", listed[i], " is of class ",
                                                     index.label[listed[i]], ", which is not listed"));
    }
  }
  if (selection.has_draw()) DrawSome(selection.draw(), &of_class);
  std::optional<ClusterFilter> clusters;
  if (DividesClasses(selection) && !index.cluster.empty()) {
    clusters.emplace(index, listed);
    OPENSET_RETURN_IF_ERROR(KeepClusters(selection, info, &*clusters));
  }
  std::vector<int64_t> label(listed.size());
  std::vector<int64_t> times(listed.size(), 0);  // how often each is used
  for (int64_t c = 0; c < selection.class_id_size(); ++c) {
    std::vector<int64_t>& places = of_class[c];
    const auto total = static_cast<int64_t>(places.size());
    if (clusters.has_value()) {
      places.erase(std::remove_if(places.begin(), places.end(), [&](int64_t i) { return !clusters->Keeps(i); }),
                   places.end());
    } else if (selection.has_fold()) {
      places = InFold(selection.fold(), selection.class_id(static_cast<int>(c)), std::move(places));
    }
    const auto left = static_cast<int64_t>(places.size());
    if (clusters.has_value() && left == 0 && total > 0 && selection.without_last_per_class() > 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("class_id[", c, "]: ", PartsHave(selection), " only clusters of ",
                       ClassText(selection.class_id(static_cast<int>(c)), info),
                       " that validation_per_class takes, which doesn't divide them: keep fewer samples for "
                       "validation, or leave the class out"));
    }
    const SampleRange range =
        clusters.has_value() ? SampleRange{0, LimitOf(selection, left)} : RangeOfClass(selection, left);
    if (range.begin >= range.end && total == 0 && (selection.has_draw() || IsOfArrays(selection))) continue;
    if (range.begin >= range.end) return NoneLeft(selection, c, total, left, info);
    const int64_t name = selection.label_size() > 0 ? selection.label(static_cast<int>(c)) : c;
    for (int64_t i = range.begin; i < range.end; ++i) {
      label[places[i]] = name;
      ++times[places[i]];
    }
  }
  SelectedSamples samples;
  for (size_t i = 0; i < listed.size(); ++i) {
    samples.index.insert(samples.index.end(), times[i], listed[i]);
    samples.label.insert(samples.label.end(), times[i], label[i]);
  }
  if (index.cluster.empty()) return samples;
  for (const int64_t place : samples.index) samples.cluster.push_back(index.cluster[place]);
  return samples;
}

}  // namespace openset

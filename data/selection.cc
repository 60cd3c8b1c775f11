#include "data/selection.h"

#include <algorithm>
#include <numeric>
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

namespace openset {

std::vector<PartOfDataSet> PartsOf(const Selection& selection) {
  std::vector<PartOfDataSet> parts(1);
  parts[0].set_part(selection.part());
  if (selection.has_part_digest()) parts[0].set_part_digest(selection.part_digest());
  parts.insert(parts.end(), selection.more().begin(), selection.more().end());
  return parts;
}

namespace {

int64_t SamplesOf(const Fold& fold, int64_t samples) {
  if (fold.has_of()) samples = SamplesOf(fold.of(), samples);
  const int64_t inside = samples > fold.fold() ? (samples - fold.fold() + fold.folds() - 1) / fold.folds() : 0;
  return fold.others() ? samples - inside : inside;
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
  if (selection.limit_per_class() > 0) range.end = std::min(range.end, range.begin + selection.limit_per_class());
  return range;
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

bool IsOfArrays(const Selection& selection) { return absl::StartsWith(selection.data_set(), "features:"); }

// Returns the error for a class without selected samples. Its parts have `total` samples of class `label`, and `left`
// of them are in the fold.
absl::Status NoneLeft(const Selection& selection, int64_t label, int64_t total, int64_t left, const DataSetInfo* info) {
  const int32_t id = selection.class_id(static_cast<int>(label));
  const bool has_name = info != nullptr && id >= 0 && id < info->class_name_size();
  const std::string samples = total == 0  ? "no sample"
                              : left == 0 ? absl::StrCat("only ", total, " samples, none of them in the fold,")
                                          : absl::StrCat("only the ", left, " samples that are kept for validation");
  return absl::InvalidArgumentError(
      absl::StrCat("class_id[", label, "]: ", PartsHave(selection), " ", samples, " of class ", id,
                   has_name ? absl::StrCat(" (", OneLine(info->class_name(id)), ")") : ""));
}

}  // namespace

absl::StatusOr<SelectedSamples> SelectSamples(const SampleIndex& index, const Selection& selection,
                                              const DataSetInfo* info) {
  if (selection.has_fold()) OPENSET_RETURN_IF_ERROR(CheckFold(selection.fold(), "fold"));
  const bool divides = selection.has_fold() || selection.only_last_per_class() > 0;
  if (divides && !index.cluster.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(PartsHave(selection), " clusters of samples, which folds and validation_per_class would divide: ",
                     IsOfArrays(selection) ? "name the parts in the file (array 'part')"
                                           : "lay the parts out as folders, train, test and val"));
  }
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
  std::vector<int64_t> label(listed.size());
  std::vector<int64_t> times(listed.size(), 0);  // how often each is used
  for (int64_t c = 0; c < selection.class_id_size(); ++c) {
    std::vector<int64_t>& places = of_class[c];
    const auto total = static_cast<int64_t>(places.size());
    if (selection.has_fold()) {
      places = InFold(selection.fold(), selection.class_id(static_cast<int>(c)), std::move(places));
    }
    const auto left = static_cast<int64_t>(places.size());
    const SampleRange range = RangeOfClass(selection, left);
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

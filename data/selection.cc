#include "data/selection.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/random.h"
#include "core/status_macros.h"

namespace openset {

std::vector<PartOfDataSet> PartsOf(const Selection& selection) {
  std::vector<PartOfDataSet> parts(1);
  parts[0].set_part(selection.part());
  if (selection.has_part_digest()) parts[0].set_part_digest(selection.part_digest());
  parts.insert(parts.end(), selection.more().begin(), selection.more().end());
  return parts;
}

int64_t FoldSamples(const Selection& selection, int64_t samples) {
  if (!selection.has_fold()) return samples;
  const Fold& fold = selection.fold();
  const int64_t inside = samples > fold.fold() ? (samples - fold.fold() + fold.folds() - 1) / fold.folds() : 0;
  return fold.others() ? samples - inside : inside;
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

// Places in the index, in the selection's order, before classes are looked at.
absl::StatusOr<std::vector<int64_t>> Drawn(const SampleIndex& index, const Selection& selection) {
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
      return absl::InvalidArgumentError(absl::StrCat("index[", i, "]: sample ", place, " is there twice"));
    seen[place] = true;
  }
  return std::vector<int64_t>(selection.index().begin(), selection.index().end());
}

// Whether each of a class's `samples` is in the fold.
std::vector<bool> InFold(const Fold& fold, int32_t class_id, int64_t samples) {
  RandomStream random(fold.seed(), absl::StrCat(fold.name(), "/class ", class_id));
  const std::vector<int64_t> order = random.Permutation(samples);
  std::vector<bool> inside(samples);
  for (int64_t p = 0; p < samples; ++p) inside[order[p]] = (p % fold.folds() == fold.fold()) != fold.others();
  return inside;
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

// `total` of class `label` are there, `left` in the fold.
absl::Status NoneLeft(const Selection& selection, int64_t label, int64_t total, int64_t left) {
  const std::string samples = total == 0  ? "no sample"
                              : left == 0 ? absl::StrCat("only ", total, " samples, none of them in the fold,")
                                          : absl::StrCat("only the ", left, " samples that are kept for validation");
  return absl::InvalidArgumentError(absl::StrCat("class_id[", label, "]: ", PartsHave(selection), " ", samples,
                                                 " of class ", selection.class_id(static_cast<int>(label))));
}

}  // namespace

absl::StatusOr<SelectedSamples> SelectSamples(const SampleIndex& index, const Selection& selection) {
  if (selection.has_fold() && selection.fold().fold() >= selection.fold().folds()) {
    return absl::InvalidArgumentError(absl::StrCat("fold.fold: there is no fold ", selection.fold().fold(), " (0 to ",
                                                   selection.fold().folds() - 1, ")"));
  }
  OPENSET_ASSIGN_OR_RETURN(const auto label_of_class, LabelsOfClasses(selection));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<int64_t> drawn, Drawn(index, selection));
  // Places in `drawn` of each class.
  std::vector<std::vector<int64_t>> of_class(selection.class_id_size());
  for (size_t i = 0; i < drawn.size(); ++i) {
    const auto found = label_of_class.find(index.label[drawn[i]]);
    if (found != label_of_class.end()) {
      of_class[found->second].push_back(static_cast<int64_t>(i));
    } else if (selection.index_size() > 0) {
      return absl::InvalidArgumentError(absl::StrCat("index[", i, "]: sample ", drawn[i], " is of class ",
                                                     index.label[drawn[i]], ", which is not listed"));
    }
  }
  std::vector<int64_t> label(drawn.size(), -1);  // -1: not taken
  for (int64_t c = 0; c < selection.class_id_size(); ++c) {
    std::vector<int64_t>& places = of_class[c];
    const auto total = static_cast<int64_t>(places.size());
    if (selection.has_fold()) {
      const std::vector<bool> inside = InFold(selection.fold(), selection.class_id(static_cast<int>(c)), total);
      std::vector<int64_t> kept;
      for (int64_t i = 0; i < total; ++i) {
        if (inside[i]) kept.push_back(places[i]);
      }
      places = std::move(kept);
    }
    const auto left = static_cast<int64_t>(places.size());
    const SampleRange range = RangeOfClass(selection, left);
    if (range.begin >= range.end) return NoneLeft(selection, c, total, left);
    for (int64_t i = range.begin; i < range.end; ++i) label[places[i]] = c;
  }
  SelectedSamples samples;
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (label[i] < 0) continue;
    samples.index.push_back(drawn[i]);
    samples.label.push_back(label[i]);
  }
  return samples;
}

}  // namespace openset

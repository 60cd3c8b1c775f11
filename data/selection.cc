#include "data/selection.h"

#include <algorithm>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace openset {

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

absl::StatusOr<SelectedSamples> SelectSamples(const SampleIndex& index, const Selection& selection) {
  std::unordered_map<int32_t, int64_t> label_of_class;
  for (int i = 0; i < selection.class_id_size(); ++i) {
    if (!label_of_class.emplace(selection.class_id(i), i).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("class_id[", i, "]: class ", selection.class_id(i), " is listed twice"));
    }
  }
  std::vector<int64_t> total(selection.class_id_size(), 0);
  for (int64_t i = 0; i < index.size(); ++i) {
    const auto found = label_of_class.find(index.label[i]);
    if (found != label_of_class.end()) ++total[found->second];
  }
  std::vector<SampleRange> range;
  for (int i = 0; i < selection.class_id_size(); ++i) {
    range.push_back(RangeOfClass(selection, total[i]));
    if (range[i].begin < range[i].end) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "class_id[", i, "]: part '", selection.part(), "' of data set '", selection.data_set(), "' has ",
        total[i] == 0 ? "no sample" : absl::StrCat("only the ", total[i], " samples that are kept for validation"),
        " of class ", selection.class_id(i)));
  }
  SelectedSamples samples;
  std::vector<int64_t> seen(selection.class_id_size(), 0);
  for (int64_t i = 0; i < index.size(); ++i) {
    const auto found = label_of_class.find(index.label[i]);
    if (found == label_of_class.end()) continue;
    const int64_t place = seen[found->second]++;
    const SampleRange& wanted = range[found->second];
    if (place < wanted.begin || place >= wanted.end) continue;
    samples.index.push_back(i);
    samples.label.push_back(found->second);
  }
  return samples;
}

}  // namespace openset

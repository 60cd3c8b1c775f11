#include "data/selection.h"

#include <unordered_map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace openset {

absl::StatusOr<SelectedSamples> SelectSamples(const ImageSet& set, const Selection& selection) {
  std::unordered_map<int32_t, int64_t> label_of_class;
  for (int i = 0; i < selection.class_id_size(); ++i) {
    if (!label_of_class.emplace(selection.class_id(i), i).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("class_id[", i, "]: class ", selection.class_id(i), " is listed twice"));
    }
  }
  SelectedSamples samples;
  std::vector<int64_t> count(selection.class_id_size(), 0);
  for (int64_t i = 0; i < set.size(); ++i) {
    const auto found = label_of_class.find(set.labels[i]);
    if (found == label_of_class.end()) continue;
    int64_t& seen = count[found->second];
    if (selection.limit_per_class() > 0 && seen == selection.limit_per_class()) continue;
    ++seen;
    samples.index.push_back(i);
    samples.label.push_back(found->second);
  }
  for (int i = 0; i < selection.class_id_size(); ++i) {
    if (count[i] == 0) {
      return absl::InvalidArgumentError(absl::StrCat("class_id[", i, "]: part '", selection.part(), "' of data set '",
                                                     selection.data_set(), "' has no sample of class ",
                                                     selection.class_id(i)));
    }
  }
  return samples;
}

}  // namespace openset

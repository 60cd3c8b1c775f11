#include "eval/files/unknown_set.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"

namespace openset {
namespace {

// Returns the kept rows of [N, width]; empty for empty.
template <typename Values>
auto Rows(const Values& values, int64_t width, const std::vector<int64_t>& kept) {
  std::vector<typename Values::value_type> rows;
  if (values.empty()) return rows;
  rows.reserve(kept.size() * width);
  for (const int64_t row : kept)
    rows.insert(rows.end(), values.begin() + row * width, values.begin() + (row + 1) * width);
  return rows;
}

// Labels and groups have a value for each sample; any other array does too, or is empty.
absl::Status CheckSizes(const SampleSet& samples) {
  struct Sizes {
    const char* name;
    size_t values;
    int64_t width;
    bool required = false;
  };
  for (const Sizes& array :
       {Sizes{"logits", samples.logits.size(), samples.num_outputs},
        Sizes{"features", samples.features.size(), samples.feature_dim},
        Sizes{"member_uncertainty", samples.member_uncertainty.size(), 3},
        Sizes{"known_set", samples.known_set.size(), 1}, Sizes{"label", samples.label.size(), 1, true},
        Sizes{"group", samples.group.size(), 1, true}, Sizes{"prediction", samples.prediction.size(), 1},
        Sizes{"unknown_score", samples.unknown_score.size(), 1},
        Sizes{"probability_logits", samples.probability_logits.size(), samples.probability_outputs}}) {
    const int64_t wanted = samples.num_samples * array.width;
    const bool is_absent = array.values == 0 && !array.required;
    if (is_absent || static_cast<int64_t>(array.values) == wanted) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("array '", array.name, "' has ", array.values, " values, not ", wanted, " for all samples"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SampleSet> OnlyUnknownSet(const SampleSet& samples, const std::string& set) {
  if (samples.groups.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no group '", set, "': the unknown samples have no groups"));
  }
  OPENSET_RETURN_IF_ERROR(CheckSizes(samples));
  int32_t number = -1;
  std::vector<std::string> names;
  for (size_t g = 0; g < samples.groups.size(); ++g) {
    names.push_back(samples.groups[g].name);
    if (names.back() == set) number = static_cast<int32_t>(g);
  }
  if (number < 0) return absl::InvalidArgumentError(UnknownName("group", set, names));
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < samples.num_samples; ++i) {
    if (samples.label[i] != kUnknownLabel || samples.group[i] == number) kept.push_back(i);
  }
  SampleSet only;
  only.num_samples = static_cast<int64_t>(kept.size());
  only.num_classes = samples.num_classes;
  only.hints = samples.hints;
  only.log_probabilities = samples.log_probabilities;
  only.class_names = samples.class_names;
  only.num_outputs = samples.num_outputs;
  only.feature_dim = samples.feature_dim;
  only.head_weight = samples.head_weight;
  only.head_bias = samples.head_bias;
  only.logits = Rows(samples.logits, samples.num_outputs, kept);
  only.features = Rows(samples.features, samples.feature_dim, kept);
  only.member_uncertainty = Rows(samples.member_uncertainty, 3, kept);
  only.known_set = Rows(samples.known_set, 1, kept);
  only.known_sets = samples.known_sets;
  only.label = Rows(samples.label, 1, kept);
  only.prediction = Rows(samples.prediction, 1, kept);
  only.unknown_score = Rows(samples.unknown_score, 1, kept);
  only.probability_logits = Rows(samples.probability_logits, samples.probability_outputs, kept);
  only.probability_outputs = samples.probability_outputs;
  return only;
}

}  // namespace openset

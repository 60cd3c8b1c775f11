#include "eval/scores/fits/features_by_class.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace openset {
namespace {

constexpr double kMostValues = 1LL << 29;

}  // namespace

absl::StatusOr<std::vector<FeaturesOfClass>> FeaturesByClass(const ScoreInput& train,
                                                             absl::Span<const int32_t> labels) {
  const int64_t dim = train.feature_dim;
  std::map<int32_t, int64_t> counts;
  for (const int32_t label : labels) ++counts[label];
  if (static_cast<double>(counts.size()) * static_cast<double>(dim) * static_cast<double>(dim) > kMostValues) {
    return absl::InvalidArgumentError(
        absl::StrCat("a covariance for each of ", counts.size(), " classes of ", dim,
                     " features takes more than 4 GiB; take a score with one covariance (mahalanobis)"));
  }
  std::vector<FeaturesOfClass> classes;
  std::map<int32_t, size_t> place;
  for (const auto& [label, count] : counts) {
    place[label] = classes.size();
    classes.push_back({label, {}});
    classes.back().features.reserve(count * dim);
  }
  for (int64_t row = 0; row < train.num_samples; ++row) {
    const absl::Span<const float> x = train.features.subspan(row * dim, dim);
    std::vector<float>& features = classes[place[labels[row]]].features;
    features.insert(features.end(), x.begin(), x.end());
  }
  return classes;
}

}  // namespace openset

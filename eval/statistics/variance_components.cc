#include "eval/statistics/variance_components.h"

#include <algorithm>
#include <map>

#include "eval/statistics/jackknife.h"

namespace openset {

std::optional<VarianceComponents> ComponentsOf(absl::Span<const double> difference, absl::Span<const int> split) {
  struct Sums {
    double n = 0, mean = 0, squares = 0;  // Welford's
  };
  const auto add = [](double value, Sums* sums) {
    ++sums->n;
    const double off = value - sums->mean;
    sums->mean += off / sums->n;
    sums->squares += off * (value - sums->mean);
  };
  std::map<int, Sums> of_split;
  for (size_t run = 0; run < difference.size(); ++run) add(difference[run], &of_split[split[run]]);
  if (of_split.size() < 2) return std::nullopt;
  Sums means;
  double inverse = 0, within = 0, freedom = 0;
  for (const auto& [number, sums] : of_split) {
    add(sums.mean, &means);
    inverse += 1 / sums.n / static_cast<double>(of_split.size());
    within += sums.squares;
    freedom += sums.n - 1;
  }
  VarianceComponents components;
  components.splits = static_cast<int>(of_split.size());
  components.runs_of_split = 1 / inverse;
  components.split = means.squares / (means.n - 1);
  if (freedom == 0) return components;
  components.seed = within / freedom;
  components.split = std::max(0.0, components.split - *components.seed * inverse);
  return components;
}

std::optional<VarianceComponents> ComponentsOf(absl::Span<const double> difference, absl::Span<const int> split,
                                               absl::Span<const std::vector<double>> without_blocks) {
  std::optional<VarianceComponents> components = ComponentsOf(difference, split);
  if (!components.has_value() || without_blocks.empty()) return components;
  // Sums of covariances over pairs are covariances of sums.
  const auto covariance = [](const std::vector<double>& sum) { return JackknifeCovariance(sum, sum); };
  const auto add = [](const std::vector<double>& values, std::vector<double>* sum) {
    sum->resize(values.size());
    for (size_t b = 0; b < values.size(); ++b) (*sum)[b] += values[b];
  };
  std::map<int, std::vector<double>> of_split;
  std::map<int, double> runs_of_split;
  std::vector<double> all;
  double variances = 0;
  for (size_t run = 0; run < without_blocks.size(); ++run) {
    variances += covariance(without_blocks[run]);
    add(without_blocks[run], &of_split[split[run]]);
    runs_of_split[split[run]] += 1;
    add(without_blocks[run], &all);
  }
  const double runs = static_cast<double>(without_blocks.size());
  double within = 0, pairs_within = 0;  // sums over ordered pairs of a split, of a run with itself, too
  for (const auto& [number, sum] : of_split) {
    within += covariance(sum);
    pairs_within += runs_of_split[number] * runs_of_split[number];
  }
  const double shared = (covariance(all) - within) / (runs * runs - pairs_within);
  const double variance = variances / runs;
  const double of_seeds = pairs_within > runs ? (within - variances) / (pairs_within - runs) : variance;
  components->images = std::max(0.0, variance - shared);
  components->images_of_split = std::clamp(of_seeds - shared, 0.0, *components->images);
  return components;
}

VarianceShares SharesOf(const VarianceComponents& components) {
  const double images = components.images.value_or(0), of_split = components.images_of_split.value_or(0);
  const double split = std::max(0.0, components.split - of_split);
  const double seed = std::max(0.0, components.seed.value_or(0) - (images - of_split));
  const double all = split + seed + images;
  VarianceShares shares;
  if (!(all > 0)) return shares;
  if (components.images.has_value()) shares.images = 100 * images / all;
  if (!components.seed.has_value()) return shares;
  shares.split = 100 * split / all;
  shares.seed = 100 * seed / all;
  return shares;
}

std::optional<double> VarianceOfSplit(const VarianceComponents& components, int seeds) {
  if (!components.seed.has_value()) return seeds == 1 ? std::optional<double>(components.split) : std::nullopt;
  return components.split + *components.seed / seeds;
}

}  // namespace openset

#include "eval/statistics/variance_components.h"

#include <algorithm>
#include <map>
#include <utility>

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

std::optional<double> VarianceOfSplit(const VarianceComponents& components, int seeds) {
  if (!components.seed.has_value()) return seeds == 1 ? std::optional<double>(components.split) : std::nullopt;
  return components.split + *components.seed / seeds;
}

}  // namespace openset

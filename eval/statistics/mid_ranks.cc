#include "eval/statistics/mid_ranks.h"

#include <algorithm>
#include <numeric>

namespace openset {

MidRanks MidRanksOf(absl::Span<const double> values) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [values](int i, int j) { return values[i] < values[j]; });
  MidRanks ranks;
  ranks.rank.resize(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks.rank[order[i]] = (begin + 1 + end) / 2.0;
    const double t = static_cast<double>(end - begin);
    ranks.tie_cubes += t * t * t - t;
  }
  return ranks;
}

}  // namespace openset

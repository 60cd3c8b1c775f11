#include "eval/scores/activation_ratio.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace openset {

int64_t NumKept(int64_t dim, double percentile) {
  return std::max<int64_t>(1, dim - std::lrint(static_cast<double>(dim) * percentile / 100));
}

double ActivationRatio(const Eigen::Ref<const Eigen::VectorXd>& x, int64_t keep) {
  std::vector<double> values(x.data(), x.data() + x.size());
  const double total = std::accumulate(values.begin(), values.end(), 0.0);
  std::nth_element(values.begin(), values.begin() + (keep - 1), values.end(), std::greater<double>());
  const double kept = std::accumulate(values.begin(), values.begin() + keep, 0.0);
  if (kept == 0 && total == 0) return 0;
  return kept > 0 ? total / kept : std::nan("");
}

}  // namespace openset

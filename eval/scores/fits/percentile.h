// Percentiles, as NumPy's default.
#ifndef OPENSET_EVAL_SCORES_FITS_PERCENTILE_H_
#define OPENSET_EVAL_SCORES_FITS_PERCENTILE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace openset {

// The `percent`-th percentile: interpolates linearly between the values around position percent / 100 * (n - 1) of the
// ascending order. Preconditions: not empty, no NaN, 0 <= percent <= 100.
template <typename T>
double Percentile(std::vector<T> values, double percent) {
  const double position = percent / 100 * (values.size() - 1);
  const auto lower = values.begin() + static_cast<int64_t>(std::floor(position));
  std::nth_element(values.begin(), lower, values.end());
  const double low = *lower;
  if (lower + 1 == values.end()) return low;
  return low + (position - std::floor(position)) * (*std::min_element(lower + 1, values.end()) - low);
}

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FITS_PERCENTILE_H_

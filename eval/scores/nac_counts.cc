#include "eval/scores/nac_counts.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/random.h"

namespace openset {

std::vector<double> NacThresholds(int count) {
  const int half = count / 2;
  const double last = std::sqrt(1000.0);
  std::vector<double> lower;
  for (int i = 0; i < half; ++i) {
    const double u = i + 1 == half ? last : 1 + i * ((last - 1) / (half - 1));
    lower.push_back(std::log(u) / std::log(1000.0));
  }
  std::vector<double> thresholds(lower.begin(), lower.end() - 1);
  for (auto t = lower.rbegin(); t != lower.rend(); ++t) thresholds.push_back(1 - *t);
  thresholds.back() += 0.01;
  thresholds.push_back(1.2);
  return thresholds;
}

int64_t NacInterval(const std::vector<double>& thresholds, double state) {
  return std::upper_bound(thresholds.begin(), thresholds.end(), state) - thresholds.begin() - 1;
}

std::vector<bool> NacCountedRows(absl::Span<const int32_t> labels, int64_t classes, int64_t samples) {
  if (samples == 0) return std::vector<bool>(labels.size(), true);
  std::vector<std::vector<int64_t>> rows(classes);
  for (int64_t row = 0; row < static_cast<int64_t>(labels.size()); ++row) rows[labels[row]].push_back(row);
  int64_t present = 0;
  int64_t smallest = static_cast<int64_t>(labels.size());
  for (const std::vector<int64_t>& of_class : rows) {
    if (of_class.empty()) continue;
    ++present;
    smallest = std::min<int64_t>(smallest, of_class.size());
  }
  const int64_t each = std::min(smallest, std::max<int64_t>(samples / present, 1));
  std::vector<bool> counted(labels.size(), false);
  for (int64_t c = 0; c < classes; ++c) {
    if (rows[c].empty()) continue;
    const std::vector<int64_t> order =
        RandomStream(1, absl::StrCat("nac/", c)).Permutation(static_cast<int64_t>(rows[c].size()));
    for (int64_t i = 0; i < each; ++i) counted[rows[c][order[i]]] = true;
  }
  return counted;
}

}  // namespace openset

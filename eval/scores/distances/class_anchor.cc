#include "eval/scores/distances/class_anchor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/scores/input.h"

namespace openset {

absl::StatusOr<std::vector<double>> ClassAnchorScore::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [this](absl::Span<const float> logits) {
    double square = anchor_ * anchor_;
    for (const double z : logits) square += z * z;
    if (!std::isfinite(square)) return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> distance;
    for (const double z : logits) distance.push_back(std::sqrt(std::max(0.0, square - 2 * anchor_ * z)));
    const double least = *std::min_element(distance.begin(), distance.end());
    double sum = 0;
    for (const double d : distance) sum += std::exp(least - d);
    double score = std::numeric_limits<double>::infinity();
    for (const double d : distance) score = std::min(score, d * (1 - std::exp(least - d) / sum));
    return score;
  });
}

}  // namespace openset

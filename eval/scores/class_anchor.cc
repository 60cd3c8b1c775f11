// The rejection score of class anchor clustering (Miller et al., WACV 2021).
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// min_c d_c (1 - softmin(d)_c) >= 0 with d_c = |z - anchor e_c|_2, for the logits z [K] and the unit vectors e_c. 0 at
// an anchor that is far from the others. pytorch-ood 0.4.0 (CACLoss.score) uses minus the largest of the squared
// distances instead.
class ClassAnchorScore : public Score {
 public:
  explicit ClassAnchorScore(double anchor) : anchor_(anchor) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double anchor_;
};

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

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const ClassAnchorScoreSpec& spec) {
  return std::make_unique<ClassAnchorScore>(spec.anchor());
}

}  // namespace openset

#include "eval/scores/shaping/ash.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/status_macros.h"
#include "eval/scores/input.h"

namespace openset {
namespace {

// 1 for the `keep` largest of x, 0 for the others.
Eigen::VectorXd Largest(int64_t keep, const Eigen::Ref<Eigen::VectorXd>& x) {
  if (keep >= x.size()) return Eigen::VectorXd::Ones(x.size());
  std::vector<double> values(x.data(), x.data() + x.size());
  const auto last = values.begin() + (keep - 1);
  std::nth_element(values.begin(), last, values.end(), std::greater<double>());
  int64_t equal = 1 + std::count(values.begin(), last, *last);
  Eigen::VectorXd mask(x.size());
  for (int64_t d = 0; d < x.size(); ++d) mask[d] = x[d] > *last || (x[d] == *last && equal-- > 0) ? 1 : 0;
  return mask;
}

}  // namespace

absl::StatusOr<std::vector<double>> Ash::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeatures(input));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  const int64_t dim = input.feature_dim;
  const int64_t keep = std::max<int64_t>(1, dim - std::lrint(dim * percentile_ / 100));
  const std::vector<double> scores = HeadEnergy(input, head, [&](Eigen::Ref<Eigen::VectorXd> x) {
    const Eigen::VectorXd mask = Largest(keep, x);
    const double total = Eigen::VectorXd(x).sum();
    switch (variant_) {
      case Variant::kP:
        x.array() *= mask.array();
        return;
      case Variant::kB:
        x = mask * (total / keep);
        return;
      case Variant::kS:
        break;
    }
    x.array() *= mask.array();
    const double kept = Eigen::VectorXd(x).sum();
    if (kept == 0 && total == 0) return;  // a row of zeros (0 / 0), which no factor changes
    x *= kept > 0 ? std::exp(total / kept) : std::nan("");
  });
  OPENSET_RETURN_IF_ERROR(CheckFinite(scores, "cannot be scaled; variant S is for features that are not negative"));
  return scores;
}

}  // namespace openset

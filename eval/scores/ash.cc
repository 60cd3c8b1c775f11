// ASH: energy after the smaller features are pruned (Djurisic et al. 2023).
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// -log sum_c exp(z_c) of z = W s(x) + b, for features x [D] and the head W [K, D], b [K] of the outputs, in units of
// the logits. s keeps the n = D - round(D percentile / 100) largest features (at least one; the first ones of equal
// values) and sets the others to 0; then
//   P leaves the kept features unchanged,
//   B gives each the sum of all features of x over n,
//   S multiplies them by exp(sum of all features of x / sum of those kept).
// Intended for features >= 0. With percentile 0, P is the energy.
class Ash : public Score {
 public:
  explicit Ash(const AshSpec& spec) : spec_(spec) {}

  // Errors: kInvalidArgument, with the row, for S if the kept features add up to less than 0, or to 0 while all
  // features don't, and if exp overflows.
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  const AshSpec spec_;
};

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

absl::StatusOr<std::vector<double>> Ash::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeatures(input));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  const int64_t dim = input.feature_dim;
  const int64_t keep = std::max<int64_t>(1, dim - std::lrint(dim * spec_.percentile() / 100));
  const std::vector<double> scores = HeadEnergy(input, head, [&](Eigen::Ref<Eigen::VectorXd> x) {
    const Eigen::VectorXd mask = Largest(keep, x);
    const double total = Eigen::VectorXd(x).sum();
    switch (spec_.variant()) {
      case AshSpec::P:
        x.array() *= mask.array();
        return;
      case AshSpec::B:
        x = mask * (total / keep);
        return;
      case AshSpec::VARIANT_UNSPECIFIED:  // the default
      case AshSpec::S:
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

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const AshSpec& spec) { return std::make_unique<Ash>(spec); }

}  // namespace openset

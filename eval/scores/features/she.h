// SHE: agreement with the pattern of the predicted class (Zhang et al. 2023).
#ifndef OPENSET_EVAL_SCORES_FEATURES_SHE_H_
#define OPENSET_EVAL_SCORES_FEATURES_SHE_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"
#include "eval/softmax.h"

namespace openset {

// -x . s_y for features x [D], with y the output of the largest logit and s_c [D] the mean feature of the correctly
// classified training samples of class c: the simplified Hopfield energy. If several logits are the largest, `tied`
// selects the class. Grows with the length of x. Doesn't change if a constant is added to all logits.
class She : public Score {
 public:
  explicit She(TiedLogits tied = TiedLogits::kLeastScore) : tied_(tied) {}

  // Outputs that are not the label of any sample have no pattern; y is never one of them.
  // Errors, beyond those of CheckFitInput and CheckFeatures: kInvalidArgument, with the class, for a class of the
  // labels of which no sample is classified correctly.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  TiedLogits tied_;
  std::vector<Eigen::VectorXd> patterns_;  // [K], empty for outputs without one
  int64_t feature_dim_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FEATURES_SHE_H_

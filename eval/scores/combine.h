// Combines several scores by their p-values.
#ifndef OPENSET_EVAL_SCORES_COMBINE_H_
#define OPENSET_EVAL_SCORES_COMBINE_H_

#include <memory>
#include <utility>
#include <vector>

#include "eval/scores/score.h"
#include "eval/scores/score.pb.h"

namespace openset {

// For scores s_1(x), ..., s_M(x), each with the p-value
//   p_i = (#{j: s_i(x_j) > s_i(x)} + #{j: s_i(x_j) = s_i(x)} / 2 + 1/2) / (n + 1) in (0, 1)
// of "x is known" over n known samples x_j:
//   ranks      mean of 1 - p_i, in (0, 1): the mean rank among the known samples
//   Fisher     -2 sum_i ln p_i > 0 (Fisher 1932), chi-squared with 2 M degrees of freedom for independent scores
//   Stouffer   sum_i N^-1(1 - p_i) / sqrt(M) (Stouffer et al. 1949), N(0, 1) for independent scores
// The scores of a sample are not independent, so that the combined score orders samples but is not a test. Samples that
// exceed all known samples in all scores get the same value.
//
// The known samples are those passed to Fit(). If any of the scores must be fitted, the scores are fitted to every
// second sample of each class, starting with its first, and the x_j are the others, which the scores have not seen;
// otherwise the x_j are all samples. A network's own training samples look more known than new ones, which hardly
// affects the order of samples.
class Combine : public Score {
 public:
  struct Part {
    std::unique_ptr<Score> score;
    bool fit = false;  // whether it must be fitted
  };

  // Precondition: there is a part.
  Combine(CombineSpec::Rule rule, std::vector<Part> parts) : rule_(rule), parts_(std::move(parts)) {}

  // Errors: also kInvalidArgument if there are too few samples for a p-value, or for one of the scores.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  CombineSpec::Rule rule_;
  std::vector<Part> parts_;
  std::vector<std::vector<double>> known_;  // for each part, its scores of x_j, ascending
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_COMBINE_H_

// ReAct: energy after the features are clipped (Sun et al. 2021).
#ifndef OPENSET_EVAL_SCORES_SHAPING_REACT_H_
#define OPENSET_EVAL_SCORES_SHAPING_REACT_H_

#include <optional>
#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -log sum_c exp(z_c) of z = W min(x, clip) + b, for features x [D] and the head W [K, D], b [K] of the outputs, in
// units of the logits. With an infinite clip it is the energy.
class React : public Score {
 public:
  // `clip`: if absent, Fit() uses the `percentile`-th percentile of all values of all training features.
  // Precondition: 0 <= percentile <= 100.
  React(std::optional<double> clip, double percentile) : clip_(clip), fit_(!clip), percentile_(percentile) {}

  // Ignores labels. Errors: those of CheckFeatureFitInput. Does nothing if the clip is given.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

  std::optional<double> clip() const { return clip_; }

 private:
  std::optional<double> clip_;
  bool fit_;
  double percentile_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SHAPING_REACT_H_

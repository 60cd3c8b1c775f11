// AdaSCALE: energy after features are scaled by a percentile that depends on the sample (Regmi 2025).
#ifndef OPENSET_EVAL_SCORES_SHAPING_ADASCALE_H_
#define OPENSET_EVAL_SCORES_SHAPING_ADASCALE_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// For features x [D] of an image, x' [D] of the image with some pixels changed, and the head W [K, D], b [K]:
//   q = sum of max(0, x'_d) over the floor(D k1 / 100) largest x_d
//       + lambda * sum of |x_d - x'_d| over the floor(D k2 / 100) largest x_d     (the first ones of equal values)
//   p = min + (1 - F(q)) (max - min), F(q) the share of the fitted samples whose q is not larger
//   r = sum of max(0, x) over that of the D - round(D p / 100) largest            (ActivationRatio)
// The score is -log sum_c exp(z_c) of z = W (x exp(r)) + b for A, of z = r^2 (W x + b) for L. (OpenOOD fits F on up to
// 5000 validation samples and returns the negative, a confidence.)
class Adascale : public Score {
 public:
  enum class Variant { kA, kL };
  struct Options {
    Variant variant = Variant::kA;
    double min_percentile = 75;  // in (0, 100)
    double max_percentile = 85;  // in (0, 100)
    double k1 = 5;               // in [0, 100]
    double k2 = 1;               // in [0, 100]
    double lambda = 10;
  };
  explicit Adascale(const Options& options) : options_(options) {}

  // Ignores labels. Errors, beyond those of CheckFeatureFitInput: kInvalidArgument if there are no
  // perturbed_features.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  // Errors, beyond those of all scores: kInvalidArgument, with the row, if exp(r) is too large, as r may be for
  // percentiles near 100.
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  Options options_;
  int64_t feature_dim_ = 0;
  std::vector<double> fitted_;  // q of the samples, ascending
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SHAPING_ADASCALE_H_

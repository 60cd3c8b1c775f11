// The interface of an unknown score: from a model's stored outputs to one number a sample.
#ifndef OPENSET_EVAL_SCORES_SCORE_H_
#define OPENSET_EVAL_SCORES_SCORE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace openset {

// A model's outputs for N samples. Spans are row-major and may be empty if they are not known.
struct ScoreInput {
  int64_t num_samples = 0;              // N
  int64_t num_outputs = 0;              // K
  int64_t feature_dim = 0;              // D
  absl::Span<const float> logits;       // [N * K]
  absl::Span<const float> features;     // [N * D]
  absl::Span<const float> head_weight;  // [K * D]
  absl::Span<const float> head_bias;    // [K]
  // [N * D], of the images with some pixels changed.
  absl::Span<const float> perturbed_features;
  // [N * 3], of several passes: mutual information and expected entropy, in nats, and variation ratio.
  absl::Span<const float> member_uncertainty;
  absl::Span<const float>
      stage_values;  // [N * V], of the feature maps of a network's stages, from the first to the last
  absl::Span<const int64_t> stage_widths;  // [stages], how many of the V values are of each; their sum is V
};

// Outputs whose softmax are the class probabilities that a score believes in; further outputs than the classes' stand
// for the unknown.
struct ProbabilityLogits {
  std::vector<float> logits;  // [N * num_outputs]; may be -inf
  int64_t num_outputs = 0;
};

// An unknown score. Its life:
//   1. MakeScore() makes it from its spec.
//   2. If it must be fitted, Fit() with the outputs for the training samples, once.
//   3. Compute() for any outputs.
class Score {
 public:
  virtual ~Score() = default;

  // `labels` [N]: the known class of each sample. Errors: kInvalidArgument for outputs and labels that do not fit
  // together.
  virtual absl::Status Fit(const ScoreInput& /*train*/, absl::Span<const int32_t> /*labels*/) {
    return absl::OkStatus();
  }

  // One score a sample; larger = more unknown. In double, whatever the precision of the outputs.
  // Errors: kInvalidArgument for outputs that the score needs and `input` lacks, and for NaN, with the row;
  // kFailedPrecondition if it must be fitted and is not.
  virtual absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const = 0;

  // For scores that have class probabilities of their own, which calibration is then measured by; none:
  // softmax(logits). Errors: as Compute().
  virtual absl::StatusOr<std::optional<ProbabilityLogits>> Probabilities(const ScoreInput& /*input*/) const {
    return std::nullopt;
  }

  // For scores that also say the class of each sample [N]: 0 .. num_classes - 1, or num_classes where it is the
  // unknown; none: the closed-set prediction. Errors: as Compute().
  virtual absl::StatusOr<std::optional<std::vector<int32_t>>> Predictions(const ScoreInput& /*input*/,
                                                                          int64_t /*num_classes*/) const {
    return std::nullopt;
  }
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SCORE_H_

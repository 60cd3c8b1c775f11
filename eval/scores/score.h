// The interface of an unknown score, which computes one number per sample from a model's stored outputs.
#ifndef OPENSET_EVAL_SCORES_SCORE_H_
#define OPENSET_EVAL_SCORES_SCORE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace openset {

// A model's outputs for N samples. Spans are row-major; those that are not available are empty.
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
  // [N * V], of the feature maps of a network's stages, from the first to the last.
  absl::Span<const float> stage_values;
  absl::Span<const int64_t> stage_widths;  // [stages], the number of values of each; their sum is V
};

// Outputs whose softmax is the score's class probabilities. Outputs beyond the known classes stand for the unknown.
struct ProbabilityLogits {
  std::vector<float> logits;  // [N * num_outputs]; may be -inf
  int64_t num_outputs = 0;
};

// An unknown score. To use it:
//   1. Create it from its spec with MakeScore().
//   2. If it must be fitted, call Fit() once, with the outputs for the training samples.
//   3. Call Compute() for any outputs.
class Score {
 public:
  virtual ~Score() = default;

  // `labels` [N]: the known class of each sample. Errors: kInvalidArgument, with the row if one is to blame, if there
  // is no sample, if `train` lacks outputs that the score needs (logits, features, the head ...) or they are not
  // finite, and for outputs and labels that do not fit together. A score's own Fit() states only the errors that it
  // adds.
  virtual absl::Status Fit(const ScoreInput& /*train*/, absl::Span<const int32_t> /*labels*/) {
    return absl::OkStatus();
  }

  // One score per sample; larger = more unknown. In double for any precision of the outputs.
  // Errors, also of the two functions below: kInvalidArgument for outputs that the score needs and `input` lacks, and
  // for NaN, with the row; kFailedPrecondition if it must be fitted and is not.
  virtual absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const = 0;

  // The class probabilities, for calibration metrics, if the score has its own; absent if they are softmax(logits).
  virtual absl::StatusOr<std::optional<ProbabilityLogits>> Probabilities(const ScoreInput& /*input*/) const {
    return std::nullopt;
  }

  // The class of each sample [N], if the score also predicts it: 0 .. num_classes - 1, or num_classes for unknown;
  // absent if it is the closed-set prediction.
  virtual absl::StatusOr<std::optional<std::vector<int32_t>>> Predictions(const ScoreInput& /*input*/,
                                                                          int64_t /*num_classes*/) const {
    return std::nullopt;
  }
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SCORE_H_

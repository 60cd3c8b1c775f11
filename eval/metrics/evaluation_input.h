// The input of an evaluation: for each sample an unknown score, a label and, if available, a closed-set prediction.
#ifndef OPENSET_EVAL_METRICS_EVALUATION_INPUT_H_
#define OPENSET_EVAL_METRICS_EVALUATION_INPUT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace openset {

// The label of all unknown samples.
inline constexpr int32_t kUnknownLabel = -1;

// N samples of C known classes. It refers to the caller's arrays, which must outlive it.
class EvaluationInput {
 public:
  struct Arrays {
    absl::Span<const double> unknown_score;  // [N], larger = more unknown; may be infinite
    // [N], the predicted class, 0 .. C-1, also of unknown samples; C if the classifier itself predicts "unknown"
    // (OpenMax), which counts as wrong for every sample. Only the score decides whether a sample is rejected. Empty if
    // not available; metrics that need predictions are then absent.
    absl::Span<const int32_t> prediction;
    absl::Span<const int32_t> label;  // [N], 0 .. C-1, or kUnknownLabel
    int32_t num_classes = 0;          // C
    // [N], or empty: the group of each unknown sample, from 0, below 2^30. Not read for known samples.
    absl::Span<const int32_t> group;
    // [N * num_outputs], row-major, or empty. Calibration metrics are computed from softmax(logits). Outputs beyond C
    // (a class for unknown samples) count as wrong. Empty without predictions.
    absl::Span<const float> logits;
    int32_t num_outputs = 0;
    // [N], or empty: samples with the same number belong together (one patient, one video), and are resampled together.
    absl::Span<const int64_t> cluster;
    // [N], or empty, instead of predictions: the loss of each known sample, in [0, 1]. Not read for unknown samples.
    absl::Span<const float> loss;
    // False: the predictions only say which samples are right; metrics that look at single classes are absent.
    bool has_classes = true;
  };

  // Errors, all kInvalidArgument, with the array and the row: no samples, 2^30 or more samples, lengths that disagree,
  // no classes, logits without predictions, a loss with predictions, fewer outputs than classes, a label, prediction,
  // group or loss out of range, a score that is NaN, a logit that is NaN or +inf, a row of logits that all are -inf.
  static absl::StatusOr<EvaluationInput> Create(const Arrays& arrays);

  int64_t num_samples() const { return static_cast<int64_t>(arrays_.label.size()); }
  int64_t num_known() const { return num_known_; }
  int64_t num_unknown() const { return num_samples() - num_known_; }
  int32_t num_classes() const { return arrays_.num_classes; }
  // Largest group of an unknown sample + 1; 0 without groups.
  int32_t num_groups() const { return num_groups_; }

  bool has_predictions() const { return !arrays_.prediction.empty(); }
  bool has_classes() const { return arrays_.has_classes; }
  absl::Span<const float> loss() const { return arrays_.loss; }
  absl::Span<const double> unknown_score() const { return arrays_.unknown_score; }
  absl::Span<const int32_t> prediction() const { return arrays_.prediction; }
  absl::Span<const int32_t> label() const { return arrays_.label; }
  absl::Span<const int32_t> group() const { return arrays_.group; }
  absl::Span<const int64_t> cluster() const { return arrays_.cluster; }
  absl::Span<const float> logits() const { return arrays_.logits; }
  int32_t num_outputs() const { return arrays_.num_outputs; }

  bool IsUnknown(int64_t sample) const { return arrays_.label[sample] == kUnknownLabel; }
  // Precondition: has_predictions().
  bool IsCorrect(int64_t sample) const { return arrays_.label[sample] == arrays_.prediction[sample]; }

 private:
  explicit EvaluationInput(const Arrays& arrays) : arrays_(arrays) {}

  Arrays arrays_;
  int64_t num_known_ = 0;
  int32_t num_groups_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_EVALUATION_INPUT_H_

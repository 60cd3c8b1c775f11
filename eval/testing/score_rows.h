// Scores, and inputs of scores, which refer to the arrays that they are made from.
#ifndef OPENSET_EVAL_TESTING_SCORE_ROWS_H_
#define OPENSET_EVAL_TESTING_SCORE_ROWS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/testing/parsed.h"
#include "eval/scores/score.h"
#include "eval/scores/score_members.h"

namespace openset {

// A score for tests, from the text of a ScoreSpec ("knn { k: 3 }") or from the message of one member.
class MadeScore {
 public:
  explicit MadeScore(const char* text) : score_(Make(Parsed<ScoreSpec>(text)).value()) {}
  explicit MadeScore(const std::string& text) : MadeScore(text.c_str()) {}
  template <typename MemberSpec>
  explicit MadeScore(const MemberSpec& spec) : score_(Make(spec).value()) {}

  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) { return score_->Fit(train, labels); }
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const { return score_->Compute(input); }
  absl::StatusOr<std::optional<ProbabilityLogits>> Probabilities(const ScoreInput& input) const {
    return score_->Probabilities(input);
  }
  absl::StatusOr<std::optional<std::vector<int32_t>>> Predictions(const ScoreInput& input, int64_t num_classes) const {
    return score_->Predictions(input, num_classes);
  }

 private:
  std::unique_ptr<Score> score_;
};

// logits: [N * outputs].
inline ScoreInput LogitRows(absl::Span<const float> logits, int64_t outputs) {
  ScoreInput input;
  input.num_samples = static_cast<int64_t>(logits.size()) / outputs;
  input.num_outputs = outputs;
  input.logits = logits;
  return input;
}

// features: [N * dim]; logits: [N * outputs] or absent.
inline ScoreInput FeatureRows(absl::Span<const float> features, int64_t dim, absl::Span<const float> logits = {},
                              int64_t outputs = 0) {
  ScoreInput input;
  input.num_samples = static_cast<int64_t>(features.size()) / dim;
  input.num_outputs = outputs;
  input.feature_dim = dim;
  input.logits = logits;
  input.features = features;
  return input;
}

// `rows` with the weights of the last layer.
inline ScoreInput WithHead(ScoreInput rows, absl::Span<const float> weight, absl::Span<const float> bias = {}) {
  rows.head_weight = weight;
  rows.head_bias = bias;
  return rows;
}

// `rows` with values of stages [N * V], whose widths add up to V.
inline ScoreInput WithStages(ScoreInput rows, absl::Span<const float> values, absl::Span<const int64_t> widths) {
  rows.stage_values = values;
  rows.stage_widths = widths;
  return rows;
}

}  // namespace openset

#endif  // OPENSET_EVAL_TESTING_SCORE_ROWS_H_

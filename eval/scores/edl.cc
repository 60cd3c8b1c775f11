// Scores of evidential deep learning (Sensoy et al. 2018).
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// The score, from the Dirichlet distribution with alpha_c = evidence(z_c) + 1 and S = sum_c alpha_c.
class EdlVacuity : public Score {
 public:
  explicit EdlVacuity(EdlSpec::Evidence evidence) : evidence_(evidence) {}
  // K / S, in (0, 1].
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
  // ln alpha_c: the expected probabilities alpha_c / S.
  absl::StatusOr<std::optional<ProbabilityLogits>> Probabilities(const ScoreInput& input) const override;

 private:
  EdlSpec::Evidence evidence_;
};

class EdlProbability : public Score {
 public:
  explicit EdlProbability(EdlSpec::Evidence evidence) : evidence_(evidence) {}
  // -max_c alpha_c / S, in (-1, -1/K].
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
  absl::StatusOr<std::optional<ProbabilityLogits>> Probabilities(const ScoreInput& input) const override;

 private:
  EdlSpec::Evidence evidence_;
};

// Not negative.
double EvidenceOf(double logit, EdlSpec::Evidence evidence) {
  switch (evidence) {
    case EdlSpec::RELU:
      return std::max(logit, 0.0);
    case EdlSpec::SOFTPLUS:
      return std::max(logit, 0.0) + std::log1p(std::exp(-std::abs(logit)));
    case EdlSpec::EVIDENCE_UNSPECIFIED:  // the default
    case EdlSpec::EXP:
      break;
  }
  return std::exp(std::clamp(logit, -10.0, 10.0));
}

struct Alpha {
  double sum = 0;
  double max = 0;
};

Alpha AlphaOf(absl::Span<const float> logits, EdlSpec::Evidence evidence) {
  Alpha alpha;
  for (const float logit : logits) {
    const double a = EvidenceOf(logit, evidence) + 1;
    alpha.sum += a;
    alpha.max = std::max(alpha.max, a);
  }
  return alpha;
}

absl::StatusOr<std::optional<ProbabilityLogits>> LogAlphas(const ScoreInput& input, EdlSpec::Evidence evidence) {
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  ProbabilityLogits alphas{{input.logits.begin(), input.logits.end()}, input.num_outputs};
  for (float& logit : alphas.logits) logit = static_cast<float>(std::log1p(EvidenceOf(logit, evidence)));
  return alphas;
}

absl::StatusOr<std::optional<ProbabilityLogits>> EdlVacuity::Probabilities(const ScoreInput& input) const {
  return LogAlphas(input, evidence_);
}

absl::StatusOr<std::optional<ProbabilityLogits>> EdlProbability::Probabilities(const ScoreInput& input) const {
  return LogAlphas(input, evidence_);
}

absl::StatusOr<std::vector<double>> EdlVacuity::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [this](absl::Span<const float> logits) {
    return static_cast<double>(logits.size()) / AlphaOf(logits, evidence_).sum;
  });
}

absl::StatusOr<std::vector<double>> EdlProbability::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [this](absl::Span<const float> logits) {
    const Alpha alpha = AlphaOf(logits, evidence_);
    return -alpha.max / alpha.sum;
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const EdlSpec& spec, ScoreSpec::KindCase kind) {
  if (kind == ScoreSpec::kEdlVacuity) return std::make_unique<EdlVacuity>(spec.evidence());
  return std::make_unique<EdlProbability>(spec.evidence());
}

}  // namespace openset

#include "eval/scores/logits/edl.h"

#include <algorithm>
#include <cmath>

#include "core/status_macros.h"
#include "eval/scores/input.h"

namespace openset {
namespace {

double EvidenceOf(double logit, Evidence evidence) {
  switch (evidence) {
    case Evidence::kRelu:
      return std::max(logit, 0.0);
    case Evidence::kSoftplus:
      return std::max(logit, 0.0) + std::log1p(std::exp(-std::abs(logit)));
    case Evidence::kExp:
      break;
  }
  return std::exp(std::clamp(logit, -10.0, 10.0));
}

struct Alpha {
  double sum = 0;
  double max = 0;
};

Alpha AlphaOf(absl::Span<const float> logits, Evidence evidence) {
  Alpha alpha;
  for (const float logit : logits) {
    const double a = EvidenceOf(logit, evidence) + 1;
    alpha.sum += a;
    alpha.max = std::max(alpha.max, a);
  }
  return alpha;
}

absl::StatusOr<std::optional<ProbabilityLogits>> LogAlphas(const ScoreInput& input, Evidence evidence) {
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  ProbabilityLogits alphas{{input.logits.begin(), input.logits.end()}, input.num_outputs};
  for (float& logit : alphas.logits) logit = static_cast<float>(std::log1p(EvidenceOf(logit, evidence)));
  return alphas;
}

}  // namespace

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

}  // namespace openset

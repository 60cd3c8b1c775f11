// Evidential deep learning (Sensoy, Kaplan and Kandemir, NeurIPS 2018), with the objectives and evidence functions that
// EvidentialSpec lists.
//
//   mean_b objective_b + coefficient * KL_b,   alpha = evidence(z) + 1,   S = sum_c alpha_c,
//   KL = log Gamma(S') - log Gamma(K) - sum_c log Gamma(alpha'_c) + sum_c (alpha'_c - 1) (digamma(alpha'_c) -
//   digamma(S')),
//
// where alpha' is alpha with 1 for the label and S' is its sum. The KL is the divergence between the Dirichlet
// distribution of the evidence for wrong classes and the uniform one. It is computed in f64, because it is a small
// difference of large numbers.
//
// At least 0. The coefficient depends on LossInput.epoch. All outputs are classes. Clipped logits get no gradient.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

// KL(Dir(alpha) || Dir(1)) of each row, [B, K] -> [B].
at::Tensor DivergenceFromUniform(const at::Tensor& alpha) {
  const at::Tensor sum = alpha.sum(1);
  const double classes = alpha.size(1);
  return sum.lgamma() - std::lgamma(classes) - alpha.lgamma().sum(1) +
         ((alpha - 1) * (alpha.digamma() - sum.digamma().unsqueeze(1))).sum(1);
}

class Evidential : public LossTerm {
 public:
  explicit Evidential(const EvidentialSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    const at::Tensor& logits = input.known.logits;
    const at::Tensor& label = input.batch.label;
    const at::Tensor evidence = Evidence(logits);
    const at::Tensor objective = Objective(logits, evidence + 1, label).mean();
    const double coefficient = Coefficient(input.epoch);
    if (coefficient == 0) return objective;
    const at::Tensor wrong = WithoutLabel(evidence.to(at::kDouble), label, 0);
    return objective + coefficient * DivergenceFromUniform(wrong + 1).mean().to(objective.scalar_type());
  }

 private:
  at::Tensor Evidence(const at::Tensor& logits) const {
    switch (spec_.evidence()) {
      case EvidentialSpec::EXPONENTIAL:
        return logits.clamp(-spec_.clip(), spec_.clip()).exp();
      case EvidentialSpec::RELU:
        return logits.relu();
      case EvidentialSpec::SOFTPLUS:
        return at::softplus(logits);
      case EvidentialSpec::EVIDENCE_UNSPECIFIED:
        break;
    }
    LOG(FATAL) << "evidence is unspecified";
  }

  // [B].
  at::Tensor Objective(const at::Tensor& logits, const at::Tensor& alpha, const at::Tensor& label) const {
    const at::Tensor sum = alpha.sum(1);
    switch (spec_.objective()) {
      case EvidentialSpec::MEAN_SQUARE: {
        const at::Tensor p = alpha / sum.unsqueeze(1);
        const at::Tensor error = p.square().sum(1) - 2 * AtLabel(p, label) + 1;
        return error + (p * (1 - p)).sum(1) / (sum + 1);
      }
      case EvidentialSpec::DIGAMMA:
        return sum.digamma() - AtLabel(alpha, label).digamma();
      case EvidentialSpec::LOG:
        return sum.log() - AtLabel(alpha, label).log();
      case EvidentialSpec::CROSS_ENTROPY:
        return MinusAtLabel(at::log_softmax(logits, 1), label);
      case EvidentialSpec::OBJECTIVE_UNSPECIFIED:
        break;
    }
    LOG(FATAL) << "objective is unspecified";
  }

  double Coefficient(int64_t epoch) const {
    const int steps = spec_.kl_annealing_epochs();
    return spec_.kl_weight() * (steps == 0 ? 1 : std::min(1.0, static_cast<double>(epoch) / steps));
  }

  const EvidentialSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const EvidentialSpec& spec, const LossSetting&) {
  return std::make_unique<Evidential>(spec);
}

}  // namespace openset

#include "losses/make_loss_term.h"

#include <string>
#include <utility>
#include <vector>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/crl_ranking.h"
#include "losses/cross_entropy.h"
#include "losses/energy_margin.h"
#include "losses/evidential.h"
#include "losses/jsd_consistency.h"
#include "losses/open_auc.h"
#include "losses/outlier_exposure.h"
#include "losses/points/arpl.h"
#include "losses/points/confusing_samples.h"
#include "losses/points/gcpl.h"
#include "losses/points/rpl.h"

namespace openset {
namespace {

// lambda * term.
class Scaled : public LossTerm {
 public:
  Scaled(double lambda, std::unique_ptr<LossTerm> term) : lambda_(lambda), term_(std::move(term)) {}

  at::Tensor Compute(const LossInput& input) override { return term_->Compute(input) * lambda_; }
  std::vector<std::pair<std::string, at::Tensor>> Parameters() const override { return term_->Parameters(); }

 private:
  const double lambda_;
  const std::unique_ptr<LossTerm> term_;
};

std::unique_ptr<LossTerm> MakeKind(const LossTermSpec& spec, at::Device device) {
  switch (spec.kind_case()) {
    case LossTermSpec::kCrossEntropy:
      return MakeCrossEntropy(spec.cross_entropy());
    case LossTermSpec::kOpenAuc:
      return MakeOpenAuc(spec.open_auc());
    case LossTermSpec::kOutlierExposure:
      return MakeOutlierExposure();
    case LossTermSpec::kEnergyMargin:
      return MakeEnergyMargin(spec.energy_margin());
    case LossTermSpec::kCrlRanking:
      return MakeCrlRanking(spec.crl_ranking());
    case LossTermSpec::kEvidential:
      return MakeEvidential(spec.evidential());
    case LossTermSpec::kGcpl:
      return MakeGcpl();
    case LossTermSpec::kRpl:
      return MakeRpl(device);
    case LossTermSpec::kArpl:
      return MakeArpl(spec.arpl(), device);
    case LossTermSpec::kConfusingSamples:
      return MakeConfusingSamples(spec.confusing_samples());
    case LossTermSpec::kJsdConsistency:
      return MakeJsdConsistency(spec.jsd_consistency());
    case LossTermSpec::KIND_NOT_SET:
      break;
  }
  LOG(FATAL) << "a loss term without a kind";
}

}  // namespace

std::unique_ptr<LossTerm> MakeLossTerm(const LossTermSpec& spec, at::Device device) {
  return std::make_unique<Scaled>(spec.lambda(), MakeKind(spec, device));
}

}  // namespace openset

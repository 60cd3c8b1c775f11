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
#include "losses/known/centre.h"
#include "losses/known/cider.h"
#include "losses/known/class_anchor.h"
#include "losses/known/confidence_branch.h"
#include "losses/known/intra_inter.h"
#include "losses/known/random_temperature.h"
#include "losses/open_auc.h"
#include "losses/outlier_exposure.h"
#include "losses/outliers/energy_constraint.h"
#include "losses/outliers/mixed_cross_entropy.h"
#include "losses/outliers/objectosphere.h"
#include "losses/outliers/outlier_energy.h"
#include "losses/outliers/placeholder.h"
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
  void EndStep() override { term_->EndStep(); }
  std::vector<std::pair<std::string, at::Tensor>> Parameters() const override { return term_->Parameters(); }
  std::vector<std::pair<std::string, at::Tensor>> State() const override { return term_->State(); }

 private:
  const double lambda_;
  const std::unique_ptr<LossTerm> term_;
};

std::unique_ptr<LossTerm> MakeKind(const LossTermSpec& spec, const LossSetting& setting) {
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
      return MakeRpl(setting.device);
    case LossTermSpec::kArpl:
      return MakeArpl(spec.arpl(), setting.device);
    case LossTermSpec::kConfusingSamples:
      return MakeConfusingSamples(spec.confusing_samples());
    case LossTermSpec::kJsdConsistency:
      return MakeJsdConsistency(spec.jsd_consistency());
    case LossTermSpec::kObjectosphere:
      return MakeObjectosphere(spec.objectosphere());
    case LossTermSpec::kCentre:
      return MakeCentre(setting);
    case LossTermSpec::kClassAnchor:
      return MakeClassAnchor(spec.class_anchor());
    case LossTermSpec::kIntraInter:
      return MakeIntraInter();
    case LossTermSpec::kCider:
      return MakeCider(spec.cider(), setting);
    case LossTermSpec::kOutlierEnergy:
      return MakeOutlierEnergy(setting);
    case LossTermSpec::kConfidenceBranch:
      return MakeConfidenceBranch(spec.confidence_branch(), setting.device);
    case LossTermSpec::kMixedCrossEntropy:
      return MakeMixedCrossEntropy();
    case LossTermSpec::kPlaceholder:
      return MakePlaceholder(spec.placeholder());
    case LossTermSpec::kEnergyConstraint:
      return MakeEnergyConstraint(spec.energy_constraint(), setting);
    case LossTermSpec::kRandomTemperature:
      return MakeRandomTemperature(spec.random_temperature());
    case LossTermSpec::KIND_NOT_SET:
      break;
  }
  LOG(FATAL) << "a loss term without a kind";
}

}  // namespace

std::unique_ptr<LossTerm> MakeLossTerm(const LossTermSpec& spec, const LossSetting& setting) {
  return std::make_unique<Scaled>(spec.lambda(), MakeKind(spec, setting));
}

}  // namespace openset

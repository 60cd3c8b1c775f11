#include "losses/loss_needs.h"

namespace openset {

LossNeeds NeedsOf(const LossTermSpec& spec) {
  LossNeeds needs;
  switch (spec.kind_case()) {
    case LossTermSpec::kCrossEntropy:
      needs.open_set = needs.extra_output = spec.cross_entropy().open_set_is_last_class();
      break;
    case LossTermSpec::kOpenAuc:
      needs.open_set = true;
      needs.slots = spec.open_auc().pairs() == OpenAucSpec::SAME_SLOT;
      break;
    case LossTermSpec::kOutlierExposure:
    case LossTermSpec::kEnergyMargin:
    case LossTermSpec::kEnergyConstraint:
    case LossTermSpec::kObjectosphere:
    case LossTermSpec::kOutlierEnergy:
      needs.open_set = true;
      break;
    case LossTermSpec::kMixedCrossEntropy:
      needs.open_set = needs.mixtures = true;
      break;
    case LossTermSpec::kPlaceholder:
      needs.open_set = needs.extra_output = true;
      break;
    case LossTermSpec::kCrlRanking:
      needs.history = true;
      break;
    case LossTermSpec::kConfidenceBranch:
    case LossTermSpec::kRandomTemperature:
      needs.extra_output = true;
      break;
    case LossTermSpec::kCider:
      needs.extra_views = spec.cider().extra_views();
      break;
    case LossTermSpec::kCentre:
    case LossTermSpec::kClassAnchor:
    case LossTermSpec::kEvidential:
    case LossTermSpec::kIntraInter:
      break;
    case LossTermSpec::kGcpl:
    case LossTermSpec::kRpl:
    case LossTermSpec::kArpl:
      needs.points = true;
      break;
    case LossTermSpec::kConfusingSamples:
      needs.open_set = needs.points = true;
      break;
    case LossTermSpec::kJsdConsistency:
      needs.extra_views = spec.jsd_consistency().extra_views();
      break;
    case LossTermSpec::KIND_NOT_SET:
      break;
  }
  return needs;
}

}  // namespace openset

#include "eval/scores/score_needs.h"

namespace openset {

ScoreNeeds NeedsOf(const ScoreSpec& spec) {
  ScoreNeeds needs;
  switch (spec.kind_case()) {
    case ScoreSpec::kMaxSoftmax:
    case ScoreSpec::kMinMisclassification:
    case ScoreSpec::kEntropy:
    case ScoreSpec::kMargin:
    case ScoreSpec::kGen:
      return needs;
    case ScoreSpec::kMaxLogit:
    case ScoreSpec::kEnergy:
    case ScoreSpec::kEdlVacuity:
    case ScoreSpec::kEdlProbability:
    case ScoreSpec::kWeightedEnergy:
    case ScoreSpec::kClassAnchor:
      needs.logit_level = true;
      return needs;
    case ScoreSpec::kTemperatureScaledSoftmax:
      needs.fit = !spec.temperature_scaled_softmax().has_temperature();
      needs.calibrates = needs.fit;
      return needs;
    case ScoreSpec::kReact:
      needs.fit = !spec.react().has_clip();
      needs.features = true;
      needs.head = true;
      return needs;
    case ScoreSpec::kOpenmax:
      needs.fit = true;
      needs.each_class = true;
      needs.logit_level = true;
      return needs;
    case ScoreSpec::kKlm:
      needs.fit = true;
      return needs;
    case ScoreSpec::kMahalanobis:
    case ScoreSpec::kRelativeMahalanobis:
    case ScoreSpec::kShe:
    case ScoreSpec::kMahalanobisPlusPlus:
    case ScoreSpec::kRelativeMahalanobisPlusPlus:
    case ScoreSpec::kGmm:
    case ScoreSpec::kGrood:
    case ScoreSpec::kNearestMean:
      needs.fit = true;
      needs.each_class = true;
      needs.features = true;
      return needs;
    case ScoreSpec::kSsd:
      needs.fit = true;
      needs.each_class = spec.ssd().clusters() == SsdSpec::CLASSES;
      needs.features = true;
      return needs;
    case ScoreSpec::kKnn:
    case ScoreSpec::kRelation:
    case ScoreSpec::kCombood:
      needs.fit = true;
      needs.features = true;
      return needs;
    case ScoreSpec::kGhost:
      needs.each_class = true;
      [[fallthrough]];
    case ScoreSpec::kNnguide:
    case ScoreSpec::kPostmax:
      needs.fit = true;
      needs.features = true;
      needs.logit_level = true;
      return needs;
    case ScoreSpec::kVim:
      needs.fit = true;
      needs.features = true;
      needs.head = true;
      needs.logit_level = true;
      return needs;
    case ScoreSpec::kDice:
    case ScoreSpec::kNci:
    case ScoreSpec::kFdbd:
    case ScoreSpec::kWeiperKld:
    case ScoreSpec::kResidual:
    case ScoreSpec::kNac:
    case ScoreSpec::kVra:
    case ScoreSpec::kPnml:
      needs.fit = true;
      needs.features = true;
      needs.head = true;
      return needs;
    case ScoreSpec::kAdascale:
      needs.fit = true;
      needs.features = true;
      needs.head = true;
      needs.perturbed = true;
      return needs;
    case ScoreSpec::kMahalanobisEnsemble:
      needs.fit = true;
      needs.each_class = true;
      needs.stage_means = true;
      return needs;
    case ScoreSpec::kGram:
      needs.fit = true;
      needs.stage_grams = true;
      return needs;
    case ScoreSpec::kNacStages:
      needs.fit = true;
      needs.stage_states = true;
      return needs;
    case ScoreSpec::kGradnorm:
    case ScoreSpec::kGradientUncertainty:
      needs.features = true;
      return needs;
    case ScoreSpec::kAsh:
    case ScoreSpec::kScale:
    case ScoreSpec::kLts:
    case ScoreSpec::kMcm:
      needs.features = true;
      needs.head = true;
      return needs;
    case ScoreSpec::kExtraOutput:
      needs.extra_output = true;
      needs.logit_level = spec.extra_output().value() == ExtraOutputSpec::NEGATED ||
                          spec.extra_output().value() == ExtraOutputSpec::PLAIN;
      return needs;
    case ScoreSpec::kMutualInformation:
    case ScoreSpec::kExpectedEntropy:
    case ScoreSpec::kVariationRatio:
      needs.member_uncertainty = true;
      return needs;
    case ScoreSpec::kCombine:
      for (const ScoreSpec& part : spec.combine().score()) {
        const ScoreNeeds of_part = NeedsOf(part);
        // All parts are fitted to the same samples.
        needs.calibrates = needs.calibrates || of_part.calibrates;
        needs.each_class = needs.each_class || of_part.each_class;
        needs.features = needs.features || of_part.features;
        needs.extra_output = needs.extra_output || of_part.extra_output;
        needs.head = needs.head || of_part.head;
        needs.perturbed = needs.perturbed || of_part.perturbed;
        needs.member_uncertainty = needs.member_uncertainty || of_part.member_uncertainty;
        needs.logit_level = needs.logit_level || of_part.logit_level;
        needs.stage_means = needs.stage_means || of_part.stage_means;
        needs.stage_states = needs.stage_states || of_part.stage_states;
        needs.stage_grams = needs.stage_grams || of_part.stage_grams;
      }
      needs.fit = true;
      return needs;
    case ScoreSpec::KIND_NOT_SET:
      break;
  }
  return needs;
}

}  // namespace openset

#include "experiments/spec/method/inference_traits.h"

namespace openset {
namespace {

constexpr int64_t kThereAndBack = 3;
constexpr char kIsAMean[] = "which a mean of several passes doesn't have";

}  // namespace

InferenceTraits TraitsOf(const InferenceSpec& inference) {
  InferenceTraits traits;
  switch (inference.kind_case()) {
    case InferenceSpec::kMcDropout:
      traits.passes = inference.mc_dropout().passes();
      traits.no_features = kIsAMean;
      traits.member_uncertainty = inference.mc_dropout().member_uncertainty();
      traits.log_probabilities = inference.mc_dropout().average() != LOGITS;
      traits.uses_dropout = true;
      return traits;
    case InferenceSpec::kEnsemble:
      traits.members = inference.ensemble().members();
      traits.no_features = kIsAMean;
      traits.member_uncertainty = inference.ensemble().member_uncertainty();
      traits.log_probabilities = inference.ensemble().average() != LOGITS;
      traits.needs_training = "needs several trainings";
      return traits;
    case InferenceSpec::kInputPerturbation:
      traits.passes = kThereAndBack + 1;
      traits.shares_passes = true;
      return traits;
    case InferenceSpec::kPixelPerturbation:
      traits.passes = kThereAndBack + 1;
      traits.perturbed_features = true;
      return traits;
    case InferenceSpec::kTrainModePass:
      traits.no_features = "and a pass in training mode keeps logits only";
      traits.reads_training_images = true;
      traits.needs_training = "passes over the training images in training mode";
      return traits;
    case InferenceSpec::kRankFeat:
      traits.passes = 2;  // one pass, the later part of another, and decompositions
      traits.stages = inference.rank_feat().stages() == RankFeatSpec::LAST ? 1 : 2;
      return traits;
    case InferenceSpec::kStageValues:
      traits.passes = inference.stage_values().value() == StageValuesSpec::STATE ? kThereAndBack : 1;
      traits.stage_values = inference.stage_values().value();
      traits.stages = 1;
      return traits;
    case InferenceSpec::kPlain:
    case InferenceSpec::KIND_NOT_SET:
      return traits;
  }
  return traits;
}

}  // namespace openset

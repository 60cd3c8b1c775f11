#include "experiments/infer/make_predictor.h"

#include <utility>

#include "core/random.h"
#include "core/tensor/torch_generator.h"
#include "experiments/infer/input_perturbation.h"
#include "experiments/infer/mean_predictor.h"
#include "experiments/infer/pixel_perturbation.h"
#include "experiments/infer/plain_predictor.h"
#include "experiments/infer/stage_predictors.h"
#include "models/layers/layers.h"
#include "models/networks/dropout.h"

namespace openset {
namespace {

void SwitchDropoutOn(Model* model) {
  for (const auto& [path, module] : model->named_modules()) {
    if (dynamic_cast<Dropout*>(module) != nullptr) module->train(true);
  }
}

}  // namespace

std::unique_ptr<Predictor> MakePredictor(absl::Span<const InferenceSpec> specs, const InputSpec& input,
                                         std::vector<std::shared_ptr<Model>> models, uint64_t seed) {
  const InferenceSpec& spec = specs[0];
  for (const std::shared_ptr<Model>& model : models) {
    model->train(false);
    SetFolding(*model, spec.plain().fold_batch_norm());
  }
  switch (spec.kind_case()) {
    case InferenceSpec::kMcDropout: {
      SwitchDropoutOn(models[0].get());
      MeanOptions options = {spec.mc_dropout().passes(), spec.mc_dropout().average(),
                             spec.mc_dropout().member_uncertainty(),
                             MakeGenerator(models[0]->parameters()[0].device(), DeriveSeed(seed, "mc_dropout"))};
      return MakeMeanPredictor(std::move(models), std::move(options));
    }
    case InferenceSpec::kEnsemble:
      return MakeMeanPredictor(std::move(models),
                               {/*passes=*/1, spec.ensemble().average(), spec.ensemble().member_uncertainty(), {}});
    case InferenceSpec::kInputPerturbation:
      return MakeInputPerturbation(specs, input, models[0]);
    case InferenceSpec::kPixelPerturbation:
      return MakePixelPerturbation(spec.pixel_perturbation(), models[0]);
    case InferenceSpec::kRankFeat:
      return MakeRankFeatPredictor(spec.rank_feat(), models[0]);
    case InferenceSpec::kStageValues:
      return MakeStageValuesPredictor(spec.stage_values(), models[0]);
    case InferenceSpec::kPlain:
    case InferenceSpec::kTrainModePass:  // made before (train_mode_pass.h)
    case InferenceSpec::KIND_NOT_SET:
      break;
  }
  return std::make_unique<PlainPredictor>(models[0]);
}

}  // namespace openset

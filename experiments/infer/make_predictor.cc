#include "experiments/infer/make_predictor.h"

#include <utility>

#include "experiments/infer/inference_members.h"
#include "models/layers/layers.h"

namespace openset {

std::unique_ptr<Predictor> MakePredictor(absl::Span<const InferenceSpec> specs, const InputSpec& input,
                                         std::vector<std::shared_ptr<Model>> models, uint64_t seed) {
  for (const std::shared_ptr<Model>& model : models) {
    model->train(false);
    SetFolding(*model, specs[0].plain().fold_batch_norm());
  }
  return Make(specs[0], {specs, input, std::move(models), seed});
}

}  // namespace openset

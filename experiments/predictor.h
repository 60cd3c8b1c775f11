// How a trained model, or several, are asked for their outputs at inference.
#ifndef OPENSET_EXPERIMENTS_PREDICTOR_H_
#define OPENSET_EXPERIMENTS_PREDICTOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/batch.h"
#include "core/torch.h"
#include "experiments/method.pb.h"
#include "models/model.h"

namespace openset {

// Its life: MakePredictor() with trained models, then Predict() batch after batch, in one order.
class Predictor {
 public:
  virtual ~Predictor() = default;

  // f32 [B, C, H, W] -> logits [B, K], and features [B, D] where there is one forward pass to take them from (plain
  // inference and input perturbation); undefined for others. No gradients.
  virtual ModelOutput Predict(const at::Tensor& image) = 0;
};

// `input` is what the models were trained with. Puts the models in evaluation mode; MC-dropout then switches their
// dropout modules on, batch norm stays as it is. Its masks are drawn from LibTorch's default generator, which is seeded
// here from `seed`.
//
// Of several passes m = 1..M (of dropout, or one a model), the logits are
//   log (1/M sum_m softmax(z_m))   for PROBABILITIES, so that softmax gives the mean probabilities,
//   1/M sum_m z_m                  for LOGITS.
// Input perturbation takes its gradients in evaluation mode and leaves none in the model.
// Precondition: one model; `members` models for an ensemble.
std::unique_ptr<Predictor> MakePredictor(const InferenceSpec& spec, const InputSpec& input,
                                         std::vector<std::shared_ptr<Model>> models, uint64_t seed);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PREDICTOR_H_

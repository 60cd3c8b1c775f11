// How a trained model, or several, are asked for their outputs at inference.
#ifndef OPENSET_EXPERIMENTS_INFER_PREDICTOR_H_
#define OPENSET_EXPERIMENTS_INFER_PREDICTOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "core/tensor/batch.h"
#include "core/tensor/torch.h"
#include "experiments/spec/method.proto.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// What one inference says of a batch.
struct Prediction {
  // Logits [B, K], and features [B, D] where there is one forward pass to take them from (plain inference and
  // perturbations); undefined for others. No gradients.
  ModelOutput output;
  // [B, K], for InputPerturbationSpec.predictions ORIGINAL: the logits that the predicted class is taken from, where
  // they are not those of `output`.
  at::Tensor predicting_logits;
  // [B, D], for pixel perturbation: the features of the changed images.
  at::Tensor perturbed_feature;
  // f32 [B, 3], for several passes with member_uncertainty: mutual information, expected entropy, variation ratio.
  at::Tensor member_uncertainty;
  // f32 [B, V], for stage values: those of each stage, and how many each has.
  at::Tensor stage_values = {};
  std::vector<int64_t> stage_widths = {};
};

// Its life: MakePredictor() with trained models, then Predict() batch after batch, in one order.
class Predictor {
 public:
  virtual ~Predictor() = default;

  // f32 [B, C, H, W] -> what each of the inferences it was made for says of it.
  virtual std::vector<Prediction> Predict(const at::Tensor& image) = 0;
};

// `input` is what the models were trained with. Puts the models in evaluation mode; MC-dropout then switches their
// dropout modules on, batch norm stays as it is. Its masks are drawn from a generator that the predictor holds, seeded
// from `seed`; it stays the model's.
//
// Of several passes m = 1..M (of dropout, or one a model), the logits are
//   log (1/M sum_m softmax(z_m))   for PROBABILITIES, so that softmax gives the mean probabilities,
//   1/M sum_m z_m                  for LOGITS.
// Of p_m = softmax(z_m) and p = 1/M sum_m p_m, whatever is averaged, member_uncertainty has, with H in nats and sums in
// double: H(p) - 1/M sum_m H(p_m), where rounding makes it negative 0; 1/M sum_m H(p_m); and 1 - v / M, v the largest
// number of passes that have one and the same largest logit (the first of equal ones).
// Input perturbation takes its gradients in evaluation mode and leaves none in the model. Several of them share what
// they can: one forward pass for the images as they are, one backward pass for each temperature, and a forward pass for
// each temperature and epsilon above 0. (4 temperatures and 11 epsilons, one of them 0: 41 and 4.) Precondition: one
// spec, or several input perturbations; one model, or `members` models for an ensemble.
std::unique_ptr<Predictor> MakePredictor(absl::Span<const InferenceSpec> specs, const InputSpec& input,
                                         std::vector<std::shared_ptr<Model>> models, uint64_t seed);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_PREDICTOR_H_

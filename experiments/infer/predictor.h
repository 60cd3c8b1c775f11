// The interface of inferences: the outputs of trained models for a batch.
#ifndef OPENSET_EXPERIMENTS_INFER_PREDICTOR_H_
#define OPENSET_EXPERIMENTS_INFER_PREDICTOR_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/tensor/batch.h"
#include "core/tensor/torch.h"
#include "experiments/spec/method.proto.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// The outputs of one inference for a batch.
struct Prediction {
  // Logits [B, K], and features [B, D] if they come from a single forward pass (plain inference and perturbations);
  // otherwise the features are undefined. No gradients.
  ModelOutput output;
  // [B, K], for InputPerturbationSpec.predictions ORIGINAL: the logits that determine the predicted class, if they
  // differ from output.logits.
  at::Tensor predicting_logits;
  // [B, D], for pixel perturbation: the features of the changed images.
  at::Tensor perturbed_feature;
  // f32 [B, 3], for several passes with member_uncertainty: mutual information, expected entropy, variation ratio.
  at::Tensor member_uncertainty;
  // f32 [B, V], for stage values: the values of all stages, and their number for each stage.
  at::Tensor stage_values = {};
  std::vector<int64_t> stage_widths = {};
};

// What a predictor is made from, apart from its spec; see MakePredictor() (make_predictor.h).
struct InferenceSetting {
  absl::Span<const InferenceSpec> specs;  // the spec, or several input perturbations
  const InputSpec& input;
  std::vector<std::shared_ptr<Model>> models;
  uint64_t seed = 0;
};

// Make it by MakePredictor() with trained models, and then call Predict() for each batch, always in the same order.
class Predictor {
 public:
  virtual ~Predictor() = default;

  // Returns the outputs for the images f32 [B, C, H, W], one for each inference that the predictor was made for.
  virtual std::vector<Prediction> Predict(const at::Tensor& image) = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_PREDICTOR_H_

// One forward pass.
#include <memory>
#include <utility>
#include <vector>

#include "experiments/infer/inference_members.h"

namespace openset {
namespace {

class PlainPredictor : public Predictor {
 public:
  explicit PlainPredictor(std::shared_ptr<Model> model) : model_(std::move(model)) {}

  std::vector<Prediction> Predict(const at::Tensor& image) override { return {{model_->Forward(image), {}, {}}}; }

 private:
  const std::shared_ptr<Model> model_;
};

}  // namespace

std::unique_ptr<Predictor> Make(const PlainInferenceSpec&, const InferenceSetting& setting) {
  return std::make_unique<PlainPredictor>(setting.models[0]);
}

// The pass in training mode comes before it (train_mode_pass.h).
std::unique_ptr<Predictor> Make(const TrainModePassSpec&, const InferenceSetting& setting) {
  return std::make_unique<PlainPredictor>(setting.models[0]);
}

}  // namespace openset

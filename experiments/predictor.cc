#include "experiments/predictor.h"

#include <cmath>
#include <utility>

#include "core/random.h"
#include "core/torch_nn.h"

namespace openset {
namespace {

class PlainPredictor : public Predictor {
 public:
  explicit PlainPredictor(std::shared_ptr<Model> model) : model_(std::move(model)) {}

  ModelOutput Predict(const at::Tensor& image) override { return model_->Forward(image); }

 private:
  const std::shared_ptr<Model> model_;
};

// The mean of `passes` passes through each model.
class MeanPredictor : public Predictor {
 public:
  MeanPredictor(std::vector<std::shared_ptr<Model>> models, int passes, AverageOver average)
      : models_(std::move(models)), passes_(passes), average_(average) {}

  ModelOutput Predict(const at::Tensor& image) override {
    at::Tensor sum;  // of logits, or the logarithm of that of probabilities
    for (const std::shared_ptr<Model>& model : models_) {
      for (int pass = 0; pass < passes_; ++pass) {
        const at::Tensor logits = model->Forward(image).logits.to(at::kFloat);
        const at::Tensor value = average_ == LOGITS ? logits : at::log_softmax(logits, 1);
        sum = !sum.defined() ? value : average_ == LOGITS ? sum + value : at::logaddexp(sum, value);
      }
    }
    const double count = static_cast<double>(models_.size()) * passes_;
    return {{}, average_ == LOGITS ? sum / count : sum - std::log(count), {}, {}};
  }

 private:
  const std::vector<std::shared_ptr<Model>> models_;
  const int passes_;
  const AverageOver average_;
};

void SwitchDropoutOn(Model* model) {
  for (const auto& module : model->modules()) {
    if (module->as<torch::nn::Dropout>() != nullptr || module->as<torch::nn::Dropout2d>() != nullptr) {
      module->train(true);
    }
  }
}

}  // namespace

std::unique_ptr<Predictor> MakePredictor(const InferenceSpec& spec, std::vector<std::shared_ptr<Model>> models,
                                         uint64_t seed) {
  for (const std::shared_ptr<Model>& model : models) model->train(false);
  switch (spec.kind_case()) {
    case InferenceSpec::kMcDropout:
      at::manual_seed(DeriveSeed(seed, "mc_dropout"));
      SwitchDropoutOn(models[0].get());
      return std::make_unique<MeanPredictor>(std::move(models), spec.mc_dropout().passes(),
                                             spec.mc_dropout().average());
    case InferenceSpec::kEnsemble:
      return std::make_unique<MeanPredictor>(std::move(models), 1, spec.ensemble().average());
    case InferenceSpec::kPlain:
    case InferenceSpec::KIND_NOT_SET:
      break;
  }
  return std::make_unique<PlainPredictor>(models[0]);
}

}  // namespace openset

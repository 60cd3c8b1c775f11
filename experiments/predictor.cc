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

class PerturbingPredictor : public Predictor {
 public:
  PerturbingPredictor(const InputPerturbationSpec& spec, const InputSpec& input, std::shared_ptr<Model> model)
      : spec_(spec), model_(std::move(model)), step_(at::full({1, input.channels(), 1, 1}, spec.epsilon())) {
    if (!spec.divide_by_std() || input.std_size() == 0) return;
    for (int c = 0; c < input.channels(); ++c) step_.select(1, c).div_(input.std(input.std_size() == 1 ? 0 : c));
  }

  ModelOutput Predict(const at::Tensor& image) override {
    at::Tensor perturbed = image.detach().clone();
    {
      const c10::AutoGradMode with_gradients(true);
      perturbed.requires_grad_(true);
      const at::Tensor logits = model_->Forward(perturbed).logits.to(at::kFloat) / spec_.temperature();
      at::cross_entropy_loss(logits, logits.argmax(1), {}, at::Reduction::Sum)
          .backward({}, false, false, {{perturbed}});
    }
    return model_->Forward(image - step_.to(image.device()) * perturbed.grad().sign());
  }

 private:
  const InputPerturbationSpec spec_;
  const std::shared_ptr<Model> model_;
  const at::Tensor step_;  // [1, C, 1, 1]
};

void SwitchDropoutOn(Model* model) {
  for (const auto& module : model->modules()) {
    if (module->as<torch::nn::Dropout>() != nullptr || module->as<torch::nn::Dropout2d>() != nullptr) {
      module->train(true);
    }
  }
}

}  // namespace

std::unique_ptr<Predictor> MakePredictor(const InferenceSpec& spec, const InputSpec& input,
                                         std::vector<std::shared_ptr<Model>> models, uint64_t seed) {
  for (const std::shared_ptr<Model>& model : models) model->train(false);
  switch (spec.kind_case()) {
    case InferenceSpec::kMcDropout:
      at::manual_seed(DeriveSeed(seed, "mc_dropout"));
      SwitchDropoutOn(models[0].get());
      return std::make_unique<MeanPredictor>(std::move(models), spec.mc_dropout().passes(),
                                             spec.mc_dropout().average());
    case InferenceSpec::kEnsemble:
      return std::make_unique<MeanPredictor>(std::move(models), 1, spec.ensemble().average());
    case InferenceSpec::kInputPerturbation:
      return std::make_unique<PerturbingPredictor>(spec.input_perturbation(), input, models[0]);
    case InferenceSpec::kPlain:
    case InferenceSpec::KIND_NOT_SET:
      break;
  }
  return std::make_unique<PlainPredictor>(models[0]);
}

}  // namespace openset

// Input perturbation (ODIN): a small step of each pixel, by the gradient of the predicted class.
//
// One prediction for each spec; they share passes (make_predictor.h). Precondition: all are input perturbations.
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/tensor/torch.h"
#include "experiments/infer/inference_members.h"
#include "models/model.pb.h"

namespace openset {
namespace {

class PerturbingPredictor : public Predictor {
 public:
  PerturbingPredictor(absl::Span<const InferenceSpec> specs, const InputSpec& input, std::shared_ptr<Model> model)
      : input_(input), model_(std::move(model)) {
    for (const InferenceSpec& spec : specs) {
      specs_.push_back(spec.input_perturbation());
      if (specs_.back().epsilon() != 0) gradients_.try_emplace(specs_.back().temperature());
    }
  }

  std::vector<Prediction> Predict(const at::Tensor& image) override {
    const ModelOutput plain = PlainPass(image);
    std::vector<Prediction> predictions;
    for (const InputPerturbationSpec& spec : specs_) {
      Prediction& prediction = predictions.emplace_back(Prediction{plain, {}, {}});
      if (spec.epsilon() == 0) continue;
      prediction.output = model_->Forward(image - StepOf(spec).to(image.device()) * DirectionOf(spec));
      if (spec.predictions() == InputPerturbationSpec::ORIGINAL) prediction.predicting_logits = plain.logits;
    }
    return predictions;
  }

 private:
  // The model's output for the image; sets the gradients.
  ModelOutput PlainPass(const at::Tensor& image) {
    if (gradients_.empty()) return model_->Forward(image);
    const c10::AutoGradMode with_gradients(true);
    at::Tensor variable = image.detach().clone().requires_grad_(true);
    const ModelOutput output = model_->Forward(variable);
    const at::Tensor logits = output.logits.to(at::kFloat);
    const at::Tensor predicted = logits.argmax(1);
    for (auto& [temperature, gradient] : gradients_) {
      variable.mutable_grad().reset();
      at::cross_entropy_loss(logits / temperature, predicted, {}, at::Reduction::Sum)
          .backward({}, /*retain_graph=*/temperature != gradients_.rbegin()->first, false, {{variable}});
      gradient = variable.grad().clone();
    }
    return output.Detached();
  }

  // [B, C, H, W], of -1, 0 and 1.
  at::Tensor DirectionOf(const InputPerturbationSpec& spec) const {
    const at::Tensor& gradient = gradients_.at(spec.temperature());
    switch (spec.direction()) {
      case InputPerturbationSpec::GREATER_EQUAL:
        return gradient.ge(0).to(gradient.scalar_type()).mul_(2).sub_(1);
      case InputPerturbationSpec::SIGN:
      case InputPerturbationSpec::DIRECTION_UNSPECIFIED:
        break;
    }
    return gradient.sign();
  }

  // [1, C, 1, 1]
  at::Tensor StepOf(const InputPerturbationSpec& spec) const {
    at::Tensor step = at::full({1, input_.channels(), 1, 1}, spec.epsilon());
    if (!spec.divide_by_std() || input_.std_size() == 0) return step;
    for (int c = 0; c < input_.channels(); ++c) step.select(1, c).div_(input_.std(input_.std_size() == 1 ? 0 : c));
    return step;
  }

  const InputSpec input_;
  const std::shared_ptr<Model> model_;
  std::vector<InputPerturbationSpec> specs_;
  std::map<double, at::Tensor> gradients_;  // by temperature
};

}  // namespace

std::unique_ptr<Predictor> Make(const InputPerturbationSpec&, const InferenceSetting& setting) {
  return std::make_unique<PerturbingPredictor>(setting.specs, setting.input, setting.models[0]);
}

}  // namespace openset

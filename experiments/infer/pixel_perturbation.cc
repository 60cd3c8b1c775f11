// A step of the pixels with the smallest gradients (PixelPerturbationSpec).
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "core/tensor/torch.h"
#include "experiments/infer/inference_members.h"

namespace openset {
namespace {

class PixelPerturbingPredictor : public Predictor {
 public:
  PixelPerturbingPredictor(PixelPerturbationSpec spec, std::shared_ptr<Model> model)
      : spec_(std::move(spec)), model_(std::move(model)) {}

  std::vector<Prediction> Predict(const at::Tensor& image) override {
    at::Tensor variable = image.detach().clone().requires_grad_(true);
    ModelOutput output;
    {
      const c10::AutoGradMode with_gradients(true);
      output = model_->Forward(variable);
      const at::Tensor logits = output.logits.to(at::kFloat);
      const at::Tensor predicted = logits.argmax(1, /*keepdim=*/true);
      logits.gather(1, predicted).sum().backward({}, /*retain_graph=*/false, false, {{variable}});
    }
    const at::Tensor gradient = variable.grad().flatten(1);
    const auto changed = static_cast<int64_t>(static_cast<double>(gradient.size(1)) * spec_.share());
    const at::Tensor smallest = std::get<1>(gradient.abs().topk(changed, 1, /*largest=*/false, /*sorted=*/false));
    const at::Tensor step = at::zeros_like(gradient).scatter(1, smallest, gradient.sign().gather(1, smallest));
    const at::Tensor perturbed = image + spec_.step() * step.view_as(image);
    return {{output.Detached(), {}, model_->Forward(perturbed).feature}};
  }

 private:
  const PixelPerturbationSpec spec_;
  const std::shared_ptr<Model> model_;
};

}  // namespace

std::unique_ptr<Predictor> Make(const PixelPerturbationSpec& spec, const InferenceSetting& setting) {
  return std::make_unique<PixelPerturbingPredictor>(spec, setting.models[0]);
}

}  // namespace openset

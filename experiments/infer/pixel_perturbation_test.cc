#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "experiments/infer/inference_members.h"
#include "models/make_model.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

// A small network with 3 classes, in evaluation mode.
std::shared_ptr<Model> MakeNetwork() {
  RandomStream random(1, "pixel_perturbation_test");
  std::shared_ptr<Model> model =
      MakeModel(ModelSpecOf("osrci_cnn {} head { linear {} }"), InputSpecOf("size: 28 channels: 1"), 3, &random)
          .value();
  model->eval();
  return model;
}

TEST(PixelPerturbation, MovesThePixelsOfTheSmallestGradients) {
  const at::Tensor image = at::linspace(-1, 1, 4 * 28 * 28).view({4, 1, 28, 28});
  const auto model = MakeNetwork();
  const c10::NoGradGuard no_grad;
  const auto predict = [&](double share, double step) {
    PixelPerturbationSpec spec;
    spec.set_share(share);
    spec.set_step(step);
    return Make(spec, {{}, {}, {model}})->Predict(image)[0];
  };
  const ModelOutput plain = model->Forward(image);
  const Prediction some = predict(0.1, 0.25);
  EXPECT_THAT(some.output.logits, TensorEq(plain.logits));
  EXPECT_THAT(some.output.feature, TensorEq(plain.feature));
  EXPECT_FALSE(some.perturbed_feature.requires_grad());
  at::Tensor gradient;
  {
    const c10::AutoGradMode with_gradients(true);
    at::Tensor variable = image.clone().requires_grad_(true);
    at::amax(model->Forward(variable).logits, {1}).sum().backward();
    gradient = variable.grad().flatten(1);
  }
  const int64_t changed = 78;  // floor(0.1 * 28 * 28)
  const at::Tensor order = gradient.abs().argsort(int64_t{1});
  at::Tensor expected = image.clone().flatten(1);
  for (int64_t b = 0; b < 4; ++b) {
    for (int64_t i = 0; i < changed; ++i) {
      const int64_t pixel = order[b][i].item<int64_t>();
      expected[b][pixel] += 0.25 * gradient[b][pixel].sign();
    }
  }
  EXPECT_THAT(some.perturbed_feature, TensorNear(model->Forward(expected.view_as(image)).feature, 1e-5));
  EXPECT_THAT(predict(0, 0.25).perturbed_feature, TensorEq(plain.feature));
  EXPECT_THAT(predict(0.1, 0).perturbed_feature, TensorEq(plain.feature));
  EXPECT_THAT(predict(1, 0.25).perturbed_feature, Not(TensorEq(some.perturbed_feature)));
}

}  // namespace
}  // namespace openset

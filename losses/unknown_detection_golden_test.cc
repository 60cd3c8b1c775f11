// Values and gradients of losses for unknown detection, against testdata/unknown_detection.json and pytorch-ood's.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "losses/testing/golden.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

TEST(UnknownDetectionLosses, AgreeWithAnIndependentImplementation) {
  const nlohmann::json golden = ReadGolden("unknown_detection.json");
  LossScene scene = SceneOf(TensorOf(golden["logits"]), golden["label"].get<std::vector<int64_t>>());
  scene.open = OpenSetOf(TensorOf(golden["open_logits"]));
  for (const nlohmann::json& logits : golden["view_logits"]) scene.views.push_back({{}, TensorOf(logits), {}, {}});
  // A seventh sample has never been right, so that the least count is 0; in either variant the share is count / 10.
  std::vector<int64_t> correct = golden["correct"];
  correct.push_back(0);
  scene.history.correct = at::tensor(correct, at::kLong);
  scene.history.epochs = scene.epochs = 10;
  scene.batch.sample = at::arange(6);

  for (const nlohmann::json& expected : golden["cases"]) {
    SCOPED_TRACE(expected["name"].get<std::string>());
    scene.known.logits = scene.known.logits.detach().clone().set_requires_grad(true);
    scene.open.output.logits = scene.open.output.logits.detach().clone().set_requires_grad(true);
    at::Tensor loss = at::zeros({}, at::kDouble);
    for (const std::string term : expected["terms"]) loss = loss + MakeTerm(term)->Compute(scene.Input());
    loss.backward();
    EXPECT_THAT(loss, TensorNear(TensorOf(expected["loss"]), 1e-9));
    EXPECT_THAT(scene.known.logits.grad(), TensorNear(TensorOf(expected["grad_logits"]), 1e-6));
    if (!expected.contains("grad_open_logits")) continue;
    EXPECT_THAT(scene.open.output.logits.grad(), TensorNear(TensorOf(expected["grad_open_logits"]), 1e-6));
  }
}

// Six known samples and five open ones, whose rows follow.
TEST(UnknownDetectionLosses, AreThoseOfPytorchOod) {
  const nlohmann::json golden = ReadGolden("released_losses.json")["pytorch_ood"];
  const std::vector<int64_t> label = golden["label"];
  const auto known = static_cast<int64_t>(label.size());
  ASSERT_EQ(golden["cases"].size(), 6);
  for (const nlohmann::json& expected : golden["cases"]) {
    SCOPED_TRACE(expected["term"].get<std::string>());
    const at::Tensor logits = TensorOf(golden["logits"]).requires_grad_(true),
                     features = TensorOf(golden["features"]).requires_grad_(true);
    LossScene scene = SceneOf(logits.slice(0, 0, known), label);
    scene.known.feature = features.slice(0, 0, known);
    scene.open = OpenSetOf(logits.slice(0, known));
    scene.open.output.feature = features.slice(0, known);
    const auto term = MakeTerm(expected["term"]);
    for (const auto& [name, parameter] : term->Parameters()) parameter.set_data(TensorOf(expected["parameters"][name]));
    const at::Tensor value = term->Compute(scene.Input());
    EXPECT_THAT(value.detach(), TensorNear(TensorOf(expected["value"]), 1e-11));  // its centre loss adds up to 1e-12
    value.backward();
    for (const auto& [name, rows] : {std::pair("logits", logits), std::pair("features", features)}) {
      if (expected["gradient"].contains(name)) {
        EXPECT_THAT(rows.grad(), TensorNear(TensorOf(expected["gradient"][name]), 1e-12)) << name;
      } else {
        EXPECT_FALSE(rows.grad().defined()) << name;
      }
    }
  }
}

}  // namespace
}  // namespace openset

#include <cmath>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/testing/golden.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

// p = (3/4, 1/4) and k = 1/2 for each sample.
LossScene Scene() {
  const double log3 = std::log(3);
  return SceneOf(Matrix({{log3, 0, 0}, {log3, 0, 0}}), {1, 1});
}

TEST(ConfidenceBranchTerm, MixesTheAnswerIntoEveryOtherSample) {
  // -log(1/2 * 1/4 + 1/2), -log(1/4), and 0.2 * -log(1/2).
  const double expected = -(std::log(0.625) + std::log(0.25)) / 2 + 0.2 * std::log(2);
  const auto term = MakeTerm("confidence_branch { weight: 0.2 }");
  EXPECT_THAT(term->Compute(Scene().Input()), TensorNear(at::scalar_tensor(expected, at::kDouble), 1e-12));
}

TEST(ConfidenceBranchTerm, ItsPriceFollowsTheBudget) {
  for (const auto& [budget, divisor] : {std::pair{"0.3", 0.99}, {"0.7", 1.01}}) {  // -log k = 0.693
    const auto term = MakeTerm(std::string("confidence_branch { weight: 0.2 budget: ") + budget + " }");
    const at::Tensor weight = term->State()[0].second;
    term->EndStep();  // of a step that left it out
    term->Compute(Scene().Input());
    EXPECT_EQ(weight.item<double>(), 0.2);
    term->EndStep();
    EXPECT_NEAR(weight.item<double>(), 0.2 / divisor, 1e-15);
  }
}

// Two steps. In each, one sample's probability and another one's confidence are below 1e-9.
TEST(ConfidenceBranchTerm, IsTheReleasedStep) {
  const auto term = MakeTerm("confidence_branch {}");
  const nlohmann::json steps = ReadGolden("released_losses.json")["confidence_branch"];
  ASSERT_EQ(steps.size(), 2);
  for (const nlohmann::json& step : steps) {
    const at::Tensor logits = TensorOf(step["logits"]).requires_grad_(true);
    const at::Tensor value = term->Compute(SceneOf(logits, step["label"].get<std::vector<int64_t>>()).Input());
    EXPECT_THAT(value.detach(), TensorNear(TensorOf(step["value"]), 1e-12));
    value.backward();
    EXPECT_THAT(logits.grad(), TensorNear(TensorOf(step["gradient"]), 1e-12));
    term->EndStep();
  }
}

// A logit gap of 20 has its gradient in f32 too.
TEST(ConfidenceBranchTerm, SmallProbabilitiesInFloatKeepTheirGradient) {
  const at::Tensor logits = at::tensor({20.F, 0.F, 0.F, 20.F, 0.F, 0.F}).view({2, 3}).requires_grad_(true);
  const auto term = MakeTerm("confidence_branch {}");
  term->Compute(SceneOf(logits, {1, 1}).Input()).backward();
  EXPECT_NEAR(logits.grad()[1][0].item<float>(), 0.5, 1e-6);  // the sample without hints, of two
}

}  // namespace
}  // namespace openset

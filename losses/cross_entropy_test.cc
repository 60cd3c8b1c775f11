#include <cmath>

#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

double Loss(const std::string& spec, const LossScene& scene) { return Value("cross_entropy {" + spec + "}", scene); }

// softmax: (1/2, 1/4, 1/4) and (1/6, 1/3, 1/2).
LossScene TwoSamples() { return SceneOf(Matrix({{std::log(2), 0, 0}, {0, std::log(2), std::log(3)}}), {0, 1}); }

TEST(CrossEntropy, IsTheMeanNegativeLogProbabilityOfTheLabel) {
  EXPECT_NEAR(Loss("", TwoSamples()), -(std::log(1.0 / 2) + std::log(1.0 / 3)) / 2, 1e-15);
}

TEST(CrossEntropy, SmoothsOverTheOtherClasses) {
  // e = 0.2, C = 3: 0.8 on the label, 0.1 on each other.
  const double first = 0.8 * std::log(1.0 / 2) + 0.1 * std::log(1.0 / 4) + 0.1 * std::log(1.0 / 4);
  const double second = 0.1 * std::log(1.0 / 6) + 0.8 * std::log(1.0 / 3) + 0.1 * std::log(1.0 / 2);
  EXPECT_NEAR(Loss("label_smoothing: 0.2", TwoSamples()), -(first + second) / 2, 1e-15);
}

TEST(CrossEntropy, SmoothsOverAllClasses) {
  // e = 0.3, C = 3: 0.7 + 0.1 on the label, 0.1 on each other.
  const double first = 0.8 * std::log(1.0 / 2) + 0.1 * std::log(1.0 / 4) + 0.1 * std::log(1.0 / 4);
  const double second = 0.1 * std::log(1.0 / 6) + 0.8 * std::log(1.0 / 3) + 0.1 * std::log(1.0 / 2);
  EXPECT_NEAR(Loss("label_smoothing: 0.3 smoothing_target: ALL_CLASSES", TwoSamples()), -(first + second) / 2, 1e-15);
  const double of_torch =
      at::cross_entropy_loss(TwoSamples().known.logits, TwoSamples().batch.label, {}, at::Reduction::Mean, -100, 0.3)
          .item<double>();
  EXPECT_NEAR(Loss("label_smoothing: 0.3 smoothing_target: ALL_CLASSES", TwoSamples()), of_torch, 1e-15);
}

TEST(CrossEntropy, TemperatureDividesTheLogits) {
  LossScene hot = TwoSamples();
  hot.known.logits = hot.known.logits * 4;
  EXPECT_NEAR(Loss("temperature: 4", hot), Loss("", TwoSamples()), 1e-15);
}

TEST(CrossEntropy, NormalisesTheLogits) {
  // (3, 4) / 5 / 0.1 = (6, 8), whatever their length.
  for (const double length : {1.0, 1000.0}) {
    const LossScene scene = SceneOf(length * Matrix({{3, 4}}), {0});
    EXPECT_NEAR(Loss("normalise_logits: true temperature: 0.1", scene), std::log1p(std::exp(2)), 1e-6);
  }
}

TEST(CrossEntropy, OpenSamplesAreMembersOfTheLastOutput) {
  LossScene scene = TwoSamples();
  // softmax: (1/4, 1/4, 1/2), and one that is dropped.
  scene.open = OpenSetOf(Matrix({{0, 0, std::log(2)}, {5, 0, 0}}));
  scene.open.weight = at::tensor({1.0, 0.0});
  EXPECT_NEAR(Loss("open_set_is_last_class: true", scene),
              -(std::log(1.0 / 2) + std::log(1.0 / 3) + std::log(1.0 / 2)) / 3, 1e-15);
  // Without that option, open samples are ignored.
  EXPECT_EQ(Loss("", scene), Loss("", TwoSamples()));
}

TEST(CrossEntropy, WithoutOpenSamplesIsThatOfTheKnown) {
  LossScene scene = TwoSamples();
  scene.open = OpenSetOf(at::empty({0, 3}, at::kDouble));
  EXPECT_NEAR(Loss("open_set_is_last_class: true", scene), Loss("", scene), 1e-15);
}

TEST(CrossEntropy, OfOneClassIsZero) {
  const LossScene scene = SceneOf(Matrix({{3}, {-2}}), {0, 0});
  EXPECT_EQ(Loss("", scene), 0);
  EXPECT_EQ(Loss("label_smoothing: 0.5", scene), 0);
  EXPECT_EQ(Loss("label_smoothing: 0.5 smoothing_target: ALL_CLASSES", scene), 0);
}

TEST(CrossEntropy, GradientIsProbabilityMinusTarget) {
  LossScene scene = TwoSamples();
  scene.known.logits.set_requires_grad(true);
  MakeTerm("cross_entropy { label_smoothing: 0.2 }")->Compute(scene.Input()).backward();
  EXPECT_THAT(
      scene.known.logits.grad(),
      TensorNear(
          Matrix({{1.0 / 2 - 0.8, 1.0 / 4 - 0.1, 1.0 / 4 - 0.1}, {1.0 / 6 - 0.1, 1.0 / 3 - 0.8, 1.0 / 2 - 0.1}}) / 2,
          1e-15));
}

}  // namespace
}  // namespace openset

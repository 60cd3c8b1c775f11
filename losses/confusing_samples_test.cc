#include <cmath>
#include <string>

#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

// Open samples with softmax of the distances (1/2, 1/4, 1/4) and (1/3, 1/3, 1/3).
LossScene TwoOpenSamples() {
  LossScene scene;
  scene.open = OpenSetOf(at::zeros({2, 3}, at::kDouble));
  scene.open.output.distance = Matrix({{std::log(2), 0, 0}, {5, 5, 5}});
  return scene;
}

// sum p log p: -1.5 log 2 and -log 3.
const double kMean = (-1.5 * std::log(2) - std::log(3)) / 2;

TEST(ConfusingSamples, IsTheExponentialOfTheMeanNegativeEntropy) {
  for (const std::string entropy : {"GUARDED", "RELEASED"}) {
    EXPECT_NEAR(Value("lambda: 0.1 confusing_samples { entropy: " + entropy + "}", TwoOpenSamples()),
                0.1 * std::exp(kMean), 1e-15);
    EXPECT_NEAR(Value("confusing_samples { entropy: " + entropy + "}", TwoOpenSamples()), std::exp(kMean), 1e-15);
  }
}

TEST(ConfusingSamples, LiesBetweenTheUniformAndTheCertain) {
  LossScene scene = TwoOpenSamples();
  scene.open.output.distance = at::zeros({2, 3}, at::kDouble);
  EXPECT_NEAR(Value("confusing_samples {}", scene), 1.0 / 3, 1e-15);
  scene.open.output.distance = Matrix({{100, 0, 0}, {0, 0, 100}});
  EXPECT_NEAR(Value("confusing_samples {}", scene), 1, 1e-15);
}

TEST(ConfusingSamples, ReleasedFormIsNanIfAProbabilityVanishes) {
  LossScene scene = TwoOpenSamples();
  scene.open.output.distance = Matrix({{1000, 0, 0}, {5, 5, 5}});  // exp(-1000) = 0 in f64
  EXPECT_TRUE(std::isnan(Value("confusing_samples { entropy: RELEASED }", scene)));
  EXPECT_NEAR(Value("confusing_samples {}", scene), std::exp(-std::log(3) / 2), 1e-15);
}

TEST(ConfusingSamples, WithoutOpenSamplesIsZero) {
  LossScene scene = TwoOpenSamples();
  scene.open.weight = at::zeros({2});
  EXPECT_EQ(Value("confusing_samples {}", scene), 0);
  scene.open.weight = at::tensor({0.0, 1.0});
  EXPECT_NEAR(Value("confusing_samples {}", scene), 1.0 / 3, 1e-15);
}

}  // namespace
}  // namespace openset

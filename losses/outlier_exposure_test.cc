#include <cmath>

#include "core/testing/tensor_matchers.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

// Open samples with probabilities (1/2, 1/4, 1/4) and (1/3, 1/3, 1/3).
LossScene TwoOpenSamples() {
  LossScene scene = SceneOf(Matrix({{1, 2, 3}}), {0});
  scene.open = OpenSetOf(Matrix({{std::log(2), 0, 0}, {5, 5, 5}}));
  return scene;
}

TEST(OutlierExposure, IsTheCrossEntropyFromTheUniformDistribution) {
  const double first = -(std::log(1.0 / 2) + std::log(1.0 / 4) + std::log(1.0 / 4)) / 3;
  EXPECT_NEAR(Value("outlier_exposure {}", TwoOpenSamples()), (first + std::log(3)) / 2, 1e-15);
  EXPECT_NEAR(Value("lambda: 0.5 outlier_exposure {}", TwoOpenSamples()), 0.5 * (first + std::log(3)) / 2, 1e-15);
}

TEST(OutlierExposure, CountsOpenSamplesByTheirWeight) {
  LossScene scene = TwoOpenSamples();
  scene.open.weight = at::tensor({0.0, 1.0});
  EXPECT_NEAR(Value("outlier_exposure {}", scene), std::log(3), 1e-15);
}

TEST(OutlierExposure, LimitsAreZero) {
  LossScene scene = TwoOpenSamples();
  EXPECT_EQ(Value("lambda: 0 outlier_exposure {}", scene), 0);
  scene.open = OpenSetOf(Matrix({{3}, {4}}));  // one class
  EXPECT_EQ(Value("outlier_exposure {}", scene), 0);
}

TEST(OutlierExposure, GradientIsProbabilityMinusUniform) {
  LossScene scene = TwoOpenSamples();
  scene.open.output.logits.set_requires_grad(true);
  MakeTerm("outlier_exposure {}")->Compute(scene.Input()).backward();
  const double third = 1.0 / 3;
  EXPECT_THAT(scene.open.output.logits.grad(),
              TensorNear(Matrix({{0.5 - third, 0.25 - third, 0.25 - third}, {0, 0, 0}}) / 2, 1e-15));
}

}  // namespace
}  // namespace openset

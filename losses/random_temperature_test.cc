#include <cmath>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

TEST(RandomTemperatureTerm, AddsTheLastOutputToTheCrossEntropyOfTheOthers) {
  // p_y = 3/4 and 1/2; the last outputs have the mean 2.
  const LossScene scene = SceneOf(Matrix({{std::log(3), 0, 3}, {0, 0, 1}}), {0, 1});
  EXPECT_THAT(MakeTerm("random_temperature { divergence: 0.25 }")->Compute(scene.Input()),
              TensorNear(at::scalar_tensor((std::log(4.0 / 3) + std::log(2)) / 2 + 0.25 * 2, at::kDouble), 1e-12));
}

}  // namespace
}  // namespace openset

#include <cmath>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

TEST(MixedCrossEntropyTerm, WeighsTheClassesByTheirShare) {
  const double log3 = std::log(3);
  LossScene scene = SceneOf(at::zeros({2, 2}, at::kDouble), {1, 0});
  scene.open = OpenSetOf(Matrix({{log3, 0}, {log3, 0}, {5, 5}}), {1, 0, 0});
  scene.open.weight = at::tensor({1, 1, 0}, at::kDouble);
  scene.open.share = at::tensor({0.9, 0.6, 0.5}, at::kDouble);
  scene.open.partner = at::tensor({1, -1, 0}, at::kLong);
  // Classes 0 and 1; class 1 and none: p = (3/4, 1/4).
  const double first = -0.9 * std::log(0.75) - 0.1 * std::log(0.25);
  const double second = -0.6 * std::log(0.25) - 0.4 * (std::log(0.75) + std::log(0.25)) / 2;
  EXPECT_THAT(MakeTerm("mixed_cross_entropy {}")->Compute(scene.Input()),
              TensorNear(at::scalar_tensor((first + second) / 2, at::kDouble), 1e-12));
}

// The open branch of OpenMix in train_cvpr.py (Impression2805/OpenMix): class 0 and the unknown, p = (1/6, 1/3, 1/2).
TEST(MixedCrossEntropyTerm, TakesTheLastOutputForTheUnknown) {
  LossScene scene = SceneOf(at::zeros({1, 3}, at::kDouble), {0});
  scene.open = OpenSetOf(Matrix({{0, std::log(2), std::log(3)}}), {0});
  scene.open.weight = at::ones({1}, at::kDouble);
  scene.open.share = at::tensor({0.6}, at::kDouble);
  scene.open.partner = at::tensor({-1}, at::kLong);
  EXPECT_THAT(MakeTerm("mixed_cross_entropy { unknown_is_last_class: true }")->Compute(scene.Input()),
              TensorNear(at::scalar_tensor(0.6 * std::log(6) + 0.4 * std::log(2), at::kDouble), 1e-12));
}

}  // namespace
}  // namespace openset

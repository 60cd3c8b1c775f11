#include <cmath>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

// Known samples: without class 0 the others are 2 : 1, without class 1 they are 1 : 3, so the last output has 1/3 and
// 3/4. Open ones: 2 : 1 : 1 has 1/4 at the last output; the other is dropped.
TEST(PlaceholderTerm, TheLastOutputIsSecondForKnownAndFirstForOpenSamples) {
  const double log2 = std::log(2), log3 = std::log(3);
  LossScene scene = SceneOf(Matrix({{9, log2, 0}, {0, 40, log3}}), {0, 1});
  scene.open = OpenSetOf(Matrix({{log2, 0, 0}, {5, 6, 7}}));
  scene.open.weight = at::tensor({1, 0}, at::kDouble);
  const double known = (std::log(3) + std::log(4.0 / 3)) / 2;
  EXPECT_THAT(MakeTerm("placeholder { open_weight: 0.5 }")->Compute(scene.Input()),
              TensorNear(at::scalar_tensor(known + 0.5 * std::log(4), at::kDouble), 1e-12));
  EXPECT_THAT(MakeTerm("placeholder {}")->Compute(scene.Input()),
              TensorNear(at::scalar_tensor(known + 0.01 * std::log(4), at::kDouble), 1e-12));
  scene.open.weight = at::zeros({2}, at::kDouble);
  EXPECT_THAT(MakeTerm("placeholder {}")->Compute(scene.Input()),
              TensorNear(at::scalar_tensor(known, at::kDouble), 1e-12));
}

}  // namespace
}  // namespace openset

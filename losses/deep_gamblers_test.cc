#include <cmath>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

// p = (3, 1, 4) / 8, and (2, 2, 4) / 8.
TEST(DeepGamblersTerm, BetsOnTheClassesAndKeepsAPart) {
  const LossScene scene = SceneOf(Matrix({{std::log(3), 0, std::log(4)}, {0, 0, std::log(2)}}), {0, 1});
  EXPECT_THAT(MakeTerm("deep_gamblers { reward: 2 }")->Compute(scene.Input()),
              TensorNear(at::scalar_tensor((std::log(8.0 / 5) + std::log(8.0 / 4)) / 2, at::kDouble), 1e-12));
}

// Values and gradients by the loss in train() of the authors' main.py (0d1b595), run in double precision
// (tools/peers/released_head_peer.py).
TEST(DeepGamblersTerm, AgreesWithTheReleasedCode) {
  const at::Tensor logits =
      Matrix({{1.5, -0.5, 0.25, 2.0}, {0.0, 3.0, -1.0, 0.5}, {-2.0, 0.5, 0.75, -1.0}}).requires_grad_();
  const LossScene scene = SceneOf(logits, {0, 1, 1});
  EXPECT_THAT(MakeTerm("deep_gamblers { reward: 6 }")->Compute(scene.Input()),
              TensorNear(at::scalar_tensor(0.6400898358342824, at::kDouble), 1e-12));
  const at::Tensor loss = MakeTerm("deep_gamblers { reward: 2.2 }")->Compute(scene.Input());
  EXPECT_THAT(loss, TensorNear(at::scalar_tensor(0.5068772112544635, at::kDouble), 1e-12));
  loss.backward();
  EXPECT_THAT(
      logits.grad(),
      TensorNear(Matrix({{-0.08198169260652138, 0.014691698332997846, 0.031102325615024844, 0.03618766865849866},
                         {0.014428679224362119, -0.03153579754529368, 0.005308014449900335, 0.011799103871031292},
                         {0.010567448412206538, -0.17390097694941328, 0.16530270546729567, -0.001969176930088944}}),
                 1e-12));
}

// In the first epochs, the cross entropy of the outputs but the last: p = (3, 1) / 4 and (1, 1) / 2.
TEST(DeepGamblersTerm, BeginsWithTheCrossEntropy) {
  const LossScene scene = SceneOf(Matrix({{std::log(3), 0, 9}, {0, 0, -9}}), {0, 1});
  LossInput input = scene.Input();
  input.epoch = 1;
  EXPECT_THAT(MakeTerm("deep_gamblers { cross_entropy_epochs: 2 }")->Compute(input),
              TensorNear(at::scalar_tensor((std::log(4.0 / 3) + std::log(2)) / 2, at::kDouble), 1e-12));
}

}  // namespace
}  // namespace openset

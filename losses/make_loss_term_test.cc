#include "losses/make_loss_term.h"

#include <cmath>

#include "gtest/gtest.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

TEST(MakeLossTerm, MakesTheKindOfTheSpec) {
  LossScene scene = SceneOf(at::zeros({2, 4}, at::kDouble), {0, 0});
  scene.open = OpenSetOf(at::zeros({2, 4}, at::kDouble), {0, 1});
  LossTermSpec spec;
  spec.mutable_cross_entropy();
  EXPECT_DOUBLE_EQ(MakeLossTerm(spec)->Compute(scene.Input()).item<double>(), std::log(4));
  spec.mutable_open_auc();
  spec.set_lambda(0.5);  // all t = 0
  EXPECT_DOUBLE_EQ(MakeLossTerm(spec)->Compute(scene.Input()).item<double>(), 0.5);
}

TEST(MakeLossTermDeathTest, NeedsAKind) { EXPECT_DEATH(MakeLossTerm(LossTermSpec()), "without a kind"); }

}  // namespace
}  // namespace openset

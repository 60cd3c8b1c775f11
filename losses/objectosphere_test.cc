#include <cmath>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

// A known sample with p_y = 3/4 and |x| = 5; open ones with p = (3/4, 1/4), |x|^2 = 2 and 8.
LossScene Scene() {
  const double log3 = std::log(3);
  LossScene scene = SceneOf(Matrix({{log3, 0}}), {0});
  scene.known.feature = Matrix({{3, 4}});
  scene.open = OpenSetOf(Matrix({{log3, 0}, {0, log3}}));
  scene.open.output.feature = Matrix({{1, 1}, {2, 2}});
  return scene;
}

const double kUniform = -(std::log(0.75) + std::log(0.25)) / 2;

TEST(ObjectosphereTerm, WithoutFeaturesIsTheEntropicLoss) {
  const double expected = (-std::log(0.75) + 2 * kUniform) / 3;
  EXPECT_THAT(MakeTerm("objectosphere {}")->Compute(Scene().Input()),
              TensorNear(at::scalar_tensor(expected, at::kDouble), 1e-12));
}

TEST(ObjectosphereTerm, MeasuresTheFeaturesLengths) {
  LossScene scene = Scene();
  scene.open.weight = at::tensor({1, 0}, at::kDouble);
  const auto term = MakeTerm("objectosphere { feature_weight: 0.5 known_length: 7 }");
  const double expected = (-std::log(0.75) + 0.5 * 4 + kUniform + 0.5 * 2) / 2;
  EXPECT_THAT(term->Compute(scene.Input()), TensorNear(at::scalar_tensor(expected, at::kDouble), 1e-12));
  scene.known.feature = Matrix({{30, 40}});  // long enough
  EXPECT_THAT(term->Compute(scene.Input()), TensorNear(at::scalar_tensor(expected - 1, at::kDouble), 1e-12));
}

}  // namespace
}  // namespace openset

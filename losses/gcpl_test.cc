#include "core/testing/tensor_matchers.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

TEST(Gcpl, IsHalfTheMeanDistanceToTheLabelsPoint) {
  EXPECT_DOUBLE_EQ(Value("gcpl {}", DistanceScene()), 1.0 * (1 + 5) / 2 / 2);
  EXPECT_DOUBLE_EQ(Value("lambda: 0.3 gcpl {}", DistanceScene()), 0.3 * (1 + 5) / 2 / 2);
}

TEST(Gcpl, IsHalfTheMeanSquareErrorOfFeaturesAndPoints) {
  const at::Tensor feature = Matrix({{1, 0, 2}, {-1, 1, 0.5}, {0, 3, 1}});
  const at::Tensor point = Matrix({{0.5, 0, 1}, {-2, 1, 0}});
  LossScene scene;
  scene.batch.label = at::tensor({1, 0, 1}, at::kLong);
  scene.known.distance = (feature.unsqueeze(1) - point).square().mean(2);
  const at::Tensor expected = at::mse_loss(feature, point.index_select(0, scene.batch.label)) / 2;
  EXPECT_NEAR(Value("gcpl {}", scene), expected.item<double>(), 1e-15);
}

}  // namespace
}  // namespace openset

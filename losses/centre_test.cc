#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/loss_members.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

TEST(CentreTerm, IsHalfTheSquaredDistance) {
  const auto term = Make(CentreSpec(), {at::kCPU, /*classes=*/2, /*features=*/2, /*seed=*/0});
  term->Parameters()[0].second.set_data(Matrix({{1, 1}, {0, -2}}));
  LossScene scene = SceneOf(at::zeros({2, 2}, at::kDouble), {1, 0});
  scene.known.feature = Matrix({{3, 2}, {1, 0}});
  // (9 + 16) / 2 and (0 + 1) / 2.
  EXPECT_THAT(term->Compute(scene.Input()), TensorNear(at::scalar_tensor(6.5, at::kDouble), 1e-12));
}

TEST(CentreTerm, StartsFromTheTrainingsSeed) {
  const at::Tensor first = Make(CentreSpec(), {at::kCPU, 3, 1000, 1})->Parameters()[0].second;
  EXPECT_THAT(Make(CentreSpec(), {at::kCPU, 3, 1000, 1})->Parameters()[0].second, TensorEq(first));
  EXPECT_THAT(Make(CentreSpec(), {at::kCPU, 3, 1000, 2})->Parameters()[0].second, testing::Not(TensorEq(first)));
  // 3000 values of N(0, 1): 6 standard errors of 1 / sqrt(2 * 3000).
  EXPECT_NEAR(first.std().item<double>(), 1, 6 * 0.0129);
}

}  // namespace
}  // namespace openset

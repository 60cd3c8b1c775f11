#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/testing/golden.h"
#include "losses/testing/loss_scene.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

at::Tensor ValueOf(const at::Tensor& feature, const std::vector<int64_t>& label) {
  LossScene scene = SceneOf(at::zeros({feature.size(0), 5}, at::kDouble), label);
  scene.known.feature = feature;
  return MakeTerm("intra_inter {}")->Compute(scene.Input());
}

TEST(IntraInterTerm, IsTheSpreadWithinLessTheLeastDistanceBetween) {
  // Means (1, 0), (1, 4) and (9, 0) of classes 0, 3 and 4; four features are 1 from theirs.
  const at::Tensor feature = Matrix({{0, 0}, {2, 0}, {1, 3}, {1, 5}, {9, 0}});
  EXPECT_THAT(ValueOf(feature, {0, 0, 3, 3, 4}), TensorNear(at::scalar_tensor(4.0 / 5 - 16, at::kDouble), 1e-12));
}

TEST(IntraInterTerm, FarMeansGainNothing) {
  const at::Tensor feature = Matrix({{0, 0}, {11, 0}}).requires_grad_();
  const at::Tensor value = ValueOf(feature, {0, 1});
  EXPECT_THAT(value, TensorNear(at::scalar_tensor(-100, at::kDouble), 1e-12));
  value.backward();
  EXPECT_THAT(feature.grad(), TensorNear(Matrix({{0, 0}, {0, 0}}), 0));
}

TEST(IntraInterTerm, HasNothingBetweenOneClass) {
  EXPECT_THAT(ValueOf(Matrix({{0, 0}, {2, 0}}), {1, 1}), TensorNear(at::scalar_tensor(1, at::kDouble), 1e-12));
}

// The authors' opennet.py. Its first part is a mean over the three dimensions.
TEST(IntraInterTerm, IsTheReleasedPartsAsThePaperAddsThem) {
  const nlohmann::json golden = ReadGolden("released_losses.json")["intra_inter"];
  const at::Tensor feature = TensorOf(golden["feature"]).requires_grad_();
  const at::Tensor value = ValueOf(feature, golden["label"].get<std::vector<int64_t>>());
  EXPECT_THAT(value.detach(), TensorNear(3 * TensorOf(golden["intra"]) - TensorOf(golden["inter"]), 1e-12));
  value.backward();
  EXPECT_THAT(feature.grad(),
              TensorNear(3 * TensorOf(golden["intra_gradient"]) - TensorOf(golden["inter_gradient"]), 1e-12));
}

}  // namespace
}  // namespace openset

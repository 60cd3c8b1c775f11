#include "losses/row_ops.h"

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(AtLabel, PicksOneValuePerRow) {
  EXPECT_THAT(AtLabel(Matrix({{1, 2, 3}, {4, 5, 6}}), at::tensor({2, 0}, at::kLong)),
              TensorEq(at::tensor({3.0, 4.0}, at::kDouble)));
}

TEST(WeightedMean, LeavesOutWeightZero) {
  const at::Tensor value = at::tensor({1.0, 5.0, 9.0}, at::kDouble);
  EXPECT_THAT(WeightedMean(value, at::tensor({1, 0, 1}, at::kFloat)), TensorNear(at::scalar_tensor((1 + 9) / 2.0), 0));
  EXPECT_THAT(WeightedMean(value, at::tensor({0.5, 0.25, 0.0})),
              TensorNear(at::scalar_tensor((0.5 + 1.25) / 0.75, at::kDouble), 1e-15));
}

TEST(WeightedMean, IsZeroWithoutWeight) {
  const at::Tensor value = at::tensor({1.0, 5.0}, at::kDouble).set_requires_grad(true);
  const at::Tensor mean = WeightedMean(value, at::zeros({2}));
  EXPECT_THAT(mean, TensorNear(at::scalar_tensor(0), 0));
  mean.backward();
  EXPECT_THAT(value.grad(), TensorNear(at::zeros({2}), 0));
  EXPECT_THAT(WeightedMean(at::zeros({0}), at::zeros({0})), TensorNear(at::scalar_tensor(0), 0));
}

}  // namespace
}  // namespace openset

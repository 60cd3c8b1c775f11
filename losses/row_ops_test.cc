#include "losses/row_ops.h"

#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

TEST(AtLabel, PicksOneValuePerRow) {
  const at::Tensor value = Matrix({{1, 2, 3}, {4, 5, 6}}), label = at::tensor({2, 0}, at::kLong);
  EXPECT_THAT(AtLabel(value, label), TensorEq(at::tensor({3.0, 4.0}, at::kDouble)));
  EXPECT_THAT(MinusAtLabel(value, label), TensorEq(at::tensor({-3.0, -4.0}, at::kDouble)));
}

TEST(LargestOf, SendsTheGradientToTheFirstOfEqualOnes) {
  const at::Tensor value = Matrix({{1, 3, 3}, {5, 4, 0}}).set_requires_grad(true);
  EXPECT_THAT(LargestOf(value).detach(), TensorEq(at::tensor({3.0, 5.0}, at::kDouble)));
  const at::Tensor minus = MinusLargestOf(value);
  EXPECT_THAT(minus.detach(), TensorEq(at::tensor({-3.0, -5.0}, at::kDouble)));
  minus.sum().backward();
  EXPECT_THAT(value.grad(), TensorNear(Matrix({{0, -1, 0}, {-1, 0, 0}}), 0));
}

TEST(WithoutLabel, FillsOnePlacePerRow) {
  const at::Tensor value = Matrix({{1, 2, 3}, {4, 5, 6}}).set_requires_grad(true);
  const at::Tensor filled = WithoutLabel(value, at::tensor({2, 0}, at::kLong), -7);
  EXPECT_THAT(filled.detach(), TensorEq(Matrix({{1, 2, -7}, {-7, 5, 6}})));
  filled.sum().backward();
  EXPECT_THAT(value.grad(), TensorEq(Matrix({{1, 1, 0}, {0, 1, 1}})));
}

TEST(RowsAt, AddsTheGradientsOfARow) {
  const at::Tensor rows = Matrix({{1, 2}, {3, 4}, {5, 6}}).set_requires_grad(true);
  const at::Tensor taken = RowsAt(rows, at::tensor({2, 0, 2}, at::kLong));
  EXPECT_THAT(taken.detach(), TensorEq(Matrix({{5, 6}, {1, 2}, {5, 6}})));
  (taken * Matrix({{1}, {10}, {100}})).sum().backward();
  EXPECT_THAT(rows.grad(), TensorEq(Matrix({{10, 10}, {0, 0}, {101, 101}})));
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

TEST(DrawParameter, IsALeafDrawnRowByRow) {
  double next = 0;
  const at::Tensor parameter = DrawParameter({2, 3}, at::kCPU, [&next] { return next++; });
  EXPECT_THAT(parameter, TensorEq(at::arange(6, at::kFloat).view({2, 3})));
  EXPECT_TRUE(parameter.is_leaf());
  EXPECT_TRUE(parameter.requires_grad());
}

}  // namespace
}  // namespace openset

#include "core/testing/tensor_matchers.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::Not;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(TensorDifference, NamesTheFirstIndexInRowMajorOrder) {
  const at::Tensor expected = Matrix({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(TensorDifference(Matrix({{1, 2, 3}, {4, 5.25, 6}}), expected, 0.125),
            "differs at [1, 1]: 5.25 instead of 5");
  EXPECT_EQ(TensorDifference(Matrix({{1, 2, 4}, {5, 5, 7}}), expected, 0.125),
            "differs at [0, 2]: 4 instead of 3, and at 2 more of 6");
  EXPECT_EQ(TensorDifference(expected + 0.125, expected, 0.125), "");
}

TEST(TensorDifference, ComparesShapesFirst) {
  EXPECT_EQ(TensorDifference(Matrix({{1, 2}}), at::tensor({1.0, 2.0}), 1), "has shape [1, 2] instead of [2]");
  EXPECT_EQ(TensorDifference(at::Tensor(), at::tensor({1.0}), 1), "is an undefined tensor");
}

TEST(TensorDifference, ScalarsAndEmptyTensors) {
  EXPECT_EQ(TensorDifference(at::scalar_tensor(2.0), at::scalar_tensor(1.0), 0.5), "differs at []: 2 instead of 1");
  EXPECT_EQ(TensorDifference(at::zeros({0, 3}), at::zeros({0, 3}), 0), "");
}

TEST(TensorDifference, InfinityAndNan) {
  EXPECT_EQ(TensorDifference(at::tensor({kInfinity}), at::tensor({kInfinity}), 0), "");
  EXPECT_NE(TensorDifference(at::tensor({kInfinity}), at::tensor({-kInfinity}), 1), "");
  EXPECT_NE(TensorDifference(at::tensor({kNan}), at::tensor({kNan}), 1), "");
}

TEST(TensorMatchers, NearIgnoresTheDtypeAndEqDoesNot) {
  const at::Tensor whole = at::tensor({1, 2}, at::kLong);
  EXPECT_THAT(at::tensor({1.0, 2.25}), TensorNear(whole, 0.25));
  EXPECT_THAT(at::tensor({1.0, 2.5}), Not(TensorNear(whole, 0.25)));
  EXPECT_THAT(at::tensor({1, 2}, at::kLong), TensorEq(whole));
  EXPECT_THAT(at::tensor({1, 3}, at::kLong), Not(TensorEq(whole)));
  EXPECT_THAT(at::tensor({1.0, 2.0}), Not(TensorEq(whole)));
}

}  // namespace
}  // namespace openset

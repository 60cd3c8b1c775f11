#include "core/testing/tensor_matchers.h"

#include <limits>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

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

const at::Tensor kX = Matrix({{1, -2}, {0.5, 3}});
const at::Tensor kY = at::tensor({0.25, -1.5});

TEST(GradientsMatch, HoldsForSmoothFunctionsOfSeveralInputs) {
  EXPECT_TRUE(GradientsMatch([](const auto& in) { return (in[0].matmul(in[1]).exp() * in[0].sum()).sum(); }, {kX, kY}));
  // f32 inputs are widened, views are copied, an input without influence has gradient 0.
  EXPECT_TRUE(GradientsMatch([](const auto& in) { return in[0].pow(3).sum(); }, {kX.to(at::kFloat).t(), kY}));
  EXPECT_TRUE(GradientsMatch([](const auto&) { return at::scalar_tensor(2.0, at::kDouble); }, {kX}));
}

TEST(GradientsMatch, NamesTheFirstElementThatDiffers) {
  // The gradient that flows through detach() is lost: d/dx_i of sum x_i^2 / 2 is x_i, not 0; y is right.
  const ::testing::AssertionResult result = GradientsMatch(
      [](const auto& in) {
        const at::Tensor half = in[0].select(1, 1).detach().pow(2).sum() / 2;
        return in[1].sum() + in[0].select(1, 0).pow(2).sum() + half;
      },
      {kX, kY});
  EXPECT_FALSE(result);
  EXPECT_THAT(result.message(), HasSubstr("input 0 at [0, 1]: backward() gives 0, central differences -2"));
}

TEST(GradientsMatch, NeverAcceptsNan) {
  EXPECT_FALSE(GradientsMatch([](const auto& in) { return in[0].log().sum(); }, {at::tensor({1.0, -1.0})}));
}

TEST(GradientsMatch, NeedsAnF64Scalar) {
  EXPECT_THAT(GradientsMatch([](const auto& in) { return in[0]; }, {kY}).message(), HasSubstr("not an f64 scalar"));
  EXPECT_FALSE(GradientsMatch([](const auto& in) { return in[0].to(at::kFloat).sum(); }, {kY}));
}

TEST(GradientsMatch, LeavesTheInputsAlone) {
  const at::Tensor x = at::tensor({1.0, 2.0}, at::kDouble);
  EXPECT_TRUE(GradientsMatch([](const auto& in) { return in[0].pow(2).sum(); }, {x}));
  EXPECT_THAT(x, TensorEq(at::tensor({1.0, 2.0}, at::kDouble)));
  EXPECT_FALSE(x.requires_grad());
}

}  // namespace
}  // namespace openset

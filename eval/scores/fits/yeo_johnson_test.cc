#include "eval/scores/fits/yeo_johnson.h"

#include <cmath>

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(YeoJohnson, TransformsByItsFormula) {
  EXPECT_DOUBLE_EQ(YeoJohnson(3, 1), 3);
  EXPECT_DOUBLE_EQ(YeoJohnson(-3, 1), -3);
  EXPECT_DOUBLE_EQ(YeoJohnson(3, 2), (16 - 1) / 2.0);
  EXPECT_DOUBLE_EQ(YeoJohnson(3, 0), std::log(4));
  EXPECT_DOUBLE_EQ(YeoJohnson(3, 0.5), 2);
  EXPECT_DOUBLE_EQ(YeoJohnson(-3, 2), -std::log(4));
  EXPECT_DOUBLE_EQ(YeoJohnson(-3, 0), -7.5);
  // Near the points where the formula divides 0 by 0.
  EXPECT_NEAR(YeoJohnson(3, 1e-5), (std::pow(4, 1e-5) - 1) / 1e-5, 1e-10);
  EXPECT_NEAR(YeoJohnson(3, 9e-5), (std::pow(4, 9e-5) - 1) / 9e-5, 1e-11);
}

// StandardScaler, then PowerTransformer of scikit-learn 1.9.1, which looks for lambda to 1e-8.
TEST(PowerTransform, IsThatOfScikitLearn) {
  Eigen::VectorXd values(7);
  values << 0.1, 0.2, 0.25, 0.3, 0.9, 2, 5;
  const Eigen::VectorXd standard =
      (values.array() - values.mean()) / std::sqrt((values.array() - values.mean()).square().mean());
  EXPECT_NEAR(LikeliestYeoJohnsonLambda(standard), -0.9306942023218946, 1e-6);
  const PowerTransform transform(values);
  const double expected[] = {-1.04780270081048,   -0.8225441400145059, -0.7157762555079797, -0.6128266794172789,
                             0.34924929235111934, 1.1462223893614814,  1.7034780940376446};
  for (int i = 0; i < 7; ++i) EXPECT_NEAR(transform(values[i]), expected[i], 1e-7);
  EXPECT_NEAR(transform(10), 1.9293141172701411, 1e-6);
  EXPECT_NEAR(transform(-3), -18.61226575144319, 1e-5);
}

// The mean is 0 and the deviation 1 of what it is fitted to.
TEST(PowerTransform, Standardises) {
  const Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(50, 0, 3).array().exp();
  const PowerTransform transform(values);
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += transform(value) / 50;
    squares += transform(value) * transform(value) / 50;
  }
  EXPECT_NEAR(sum, 0, 1e-13);
  EXPECT_NEAR(squares, 1, 1e-13);
}

TEST(PowerTransform, LeavesConstantsAlone) {
  const Eigen::VectorXd values = Eigen::VectorXd::Constant(9, 0.1);
  EXPECT_EQ(LikeliestYeoJohnsonLambda(values), 1);
  EXPECT_NEAR(PowerTransform(values)(0.1), 0, 1e-15);
  EXPECT_NEAR(PowerTransform(values)(0.35), 0.25, 1e-15);
}

}  // namespace
}  // namespace openset

#include "eval/scores/features/gaussian.h"

#include "Eigen/LU"
#include "gtest/gtest.h"

namespace openset {
namespace {

// Class 0: (0, 0), (2, 0); class 2: (0, 4), (0, 8); the last row counts for no mean.
const std::vector<float> kFeatures = {0, 0, 2, 0, 0, 4, 0, 8, 100, 100};

TEST(Gaussian, MeansAndCovarianceOfClasses) {
  const std::vector<Eigen::VectorXd> means = ClassMeans(kFeatures, 2, {0, 0, 2, 2, -1}, 3);
  EXPECT_EQ(means[0], Eigen::Vector2d(1, 0));
  EXPECT_EQ(means[1].size(), 0);
  EXPECT_EQ(means[2], Eigen::Vector2d(0, 6));
  const Eigen::MatrixXd covariance = Covariance(absl::MakeConstSpan(kFeatures).first(8), {0, 0, 2, 2}, means);
  Eigen::Matrix2d expected;
  expected << (1 + 1) / 4.0, 0, 0, (4 + 4) / 4.0;
  EXPECT_TRUE(covariance.isApprox(expected)) << covariance;
}

TEST(Gaussian, WhiteningSquaresToTheInverse) {
  Eigen::Matrix2d covariance;
  covariance << 2, 1, 1, 2;
  const Eigen::MatrixXd whitening = Whitening(covariance).value();
  EXPECT_TRUE((whitening.transpose() * whitening).isApprox(covariance.inverse()));
}

TEST(Gaussian, WhiteningPassesOverConstantDirections) {
  Eigen::Matrix3d covariance = Eigen::Matrix3d::Zero();
  covariance(0, 0) = 4;
  covariance(2, 2) = 1e-3;
  const Eigen::MatrixXd whitening = Whitening(covariance).value();
  ASSERT_EQ(whitening.rows(), 2);
  EXPECT_NEAR((whitening * Eigen::Vector3d(2, 1000, 0)).squaredNorm(), 1, 1e-12);
  EXPECT_EQ(Whitening(Eigen::Matrix3d::Zero()).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace openset

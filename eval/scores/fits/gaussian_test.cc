#include "eval/scores/fits/gaussian.h"

#include "Eigen/LU"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "eval/scores/input.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

TEST(FeaturesByClass, KeepsTheOrder) {
  const std::vector<float> features = {1, 2, 3, 4, 5, 6};
  const ScoreInput input = FeatureRows(features, 2);
  const auto classes = FeaturesByClass(input, {7, 2, 7}).value();
  ASSERT_EQ(classes.size(), 2);
  EXPECT_EQ(classes[0].label, 2);
  EXPECT_EQ(classes[0].features, (std::vector<float>{3, 4}));
  EXPECT_EQ(classes[1].label, 7);
  EXPECT_EQ(classes[1].features, (std::vector<float>{1, 2, 5, 6}));
}

TEST(FeaturesByClass, RefusesMoreThanFitsInMemory) {
  const std::vector<float> features(3 * 20000);
  const ScoreInput input = FeatureRows(features, 20000);
  EXPECT_TRUE(FeaturesByClass(input, {0, 0, 0}).ok());
  EXPECT_THAT(FeaturesByClass(input, {0, 1, 2}).status().message(),
              ::testing::HasSubstr("for each of 3 classes of 20000 features"));
}

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

// A matrix of several tiles, from several turns of blocks. Stored results were computed with one product per block.
TEST(Gaussian, CovarianceHasTheBitsOfWholeProducts) {
  constexpr int64_t kRows = 20 * kRowBlock + 5;
  for (const int64_t dim : {int64_t{3}, int64_t{130}, int64_t{300}}) {
    RandomStream random(1, "rows");
    std::vector<float> rows(kRows * dim);
    for (float& value : rows) value = static_cast<float>(random.Normal());
    const Eigen::VectorXd mean = Mean(rows, dim);
    Eigen::VectorXd in_order = Eigen::VectorXd::Zero(dim);
    for (int64_t row = 0; row < kRows; ++row) {
      in_order += Eigen::Map<const Eigen::VectorXf>(rows.data() + row * dim, dim).cast<double>();
    }
    EXPECT_EQ(mean, Eigen::VectorXd(in_order / kRows));

    Eigen::MatrixXd whole = Eigen::MatrixXd::Zero(dim, dim);
    ForEachRowBlock(rows, dim, [&](int64_t, int64_t count, Eigen::MatrixXd* block) {
      for (int64_t j = 0; j < count; ++j) block->col(j) -= mean;
      whole.selfadjointView<Eigen::Lower>().rankUpdate(*block);
    });
    whole /= static_cast<double>(kRows);
    EXPECT_EQ(CovarianceAbout(rows, mean), Eigen::MatrixXd(whole.selfadjointView<Eigen::Lower>()));
  }
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

#include "eval/scores/input/linear_head.h"

#include <cmath>
#include <limits>

#include "eval/testing/score_rows.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

struct Model {
  std::vector<float> features = {1, 2, -3, 0.5};      // 2 samples
  std::vector<float> weight = {1, 0, 0, 2, -1, 0.5};  // 3 outputs
  std::vector<float> bias = {0, 1, 2};
  ScoreInput Input() const { return testing::WithHead(testing::FeatureRows(features, 2, {}, 3), weight, bias); }
};

TEST(LinearHead, ComputesTheEnergyOfChangedFeatures) {
  const Model model;
  const LinearHead head = HeadOf(model.Input()).value();
  const auto same = [](Eigen::Ref<Eigen::VectorXd>) {};
  std::vector<double> energy = HeadEnergy(model.Input(), head, same);
  ASSERT_EQ(energy.size(), 2);
  EXPECT_NEAR(energy[0], -std::log(std::exp(1) + std::exp(5) + std::exp(2)), 1e-14);
  EXPECT_NEAR(energy[1], -std::log(std::exp(-3) + std::exp(2) + std::exp(5.25)), 1e-14);
  energy = HeadEnergy(model.Input(), head, [](Eigen::Ref<Eigen::VectorXd> x) { x *= 0; });
  EXPECT_NEAR(energy[0], -std::log(1 + std::exp(1) + std::exp(2)), 1e-14);
}

TEST(LinearHead, MayHaveNoBias) {
  Model model;
  model.bias.clear();
  EXPECT_EQ(HeadOf(model.Input()).value().bias, Eigen::VectorXd::Zero(3));
}

TEST(LinearHead, ErrorsSayWhatIsWrong) {
  Model model;
  model.bias = {1, 2};
  EXPECT_THAT(HeadOf(model.Input()).status().message(), HasSubstr("head_bias has 2 values for 3 outputs"));
  model.bias = {1, 2, std::numeric_limits<float>::infinity()};
  EXPECT_THAT(HeadOf(model.Input()).status().message(), HasSubstr("head_bias is not finite"));
  model.weight[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(HeadOf(model.Input()).status().message(), HasSubstr("head_weight is not finite"));
  model.weight.pop_back();
  EXPECT_THAT(HeadOf(model.Input()).status().message(), HasSubstr("5 values for 3 outputs and 2 features"));
  model.weight.clear();
  EXPECT_EQ(HeadOf(model.Input()).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace openset

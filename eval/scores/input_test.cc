#include "eval/scores/input.h"

#include <cmath>
#include <limits>

#include "core/testing/status_matchers.h"
#include "eval/testing/golden_scores.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

TEST(Features, AreCheckedForShapeAndValues) {
  std::vector<float> features = {1, 2, 3, 4, 5, 6};
  ScoreInput input = FeatureRows(features, 3);
  EXPECT_TRUE(CheckFeatures(input).ok());
  EXPECT_TRUE(CheckFeaturesLikeFitted(input, 3, "knn").ok());
  EXPECT_EQ(CheckFeaturesLikeFitted(input, 0, "knn").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(CheckFeaturesLikeFitted(input, 2, "knn").message(), HasSubstr("knn was fitted to 2 features"));
  features[4] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(CheckFeatures(input).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(CheckFeatures(input).message(), HasSubstr("row 1, feature 1"));
  input.feature_dim = 2;
  EXPECT_THAT(CheckFeatures(input).message(), HasSubstr("6 features for 2 samples of 2"));
  input.feature_dim = 0;
  EXPECT_THAT(CheckFeatures(input).message(), HasSubstr("at least 1"));
  input.features = {};
  EXPECT_THAT(CheckFeatures(input).message(), HasSubstr("needs features"));
  input.num_samples = 0;
  EXPECT_THAT(CheckFeatureFitInput(input).message(), HasSubstr("no samples"));
}

TEST(CheckFinite, NamesTheFirstRowThatIsNot) {
  EXPECT_TRUE(CheckFinite({0, 1e308}, "are wrong").ok());
  const absl::Status status = CheckFinite({0, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}, "are wrong");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "the features of row 1 are wrong");
}

TEST(RowBlocks, HandOutEveryRowOnceAndPadWithZeros) {
  constexpr int64_t kRows = 20 * kRowBlock + 3;
  std::vector<float> rows(2 * kRows);
  for (int64_t i = 0; i < kRows; ++i) {
    rows[2 * i] = static_cast<float>(i);
    rows[2 * i + 1] = static_cast<float>(-i);
  }
  for (const auto& for_each : {ForEachRowBlock, ForEachRowBlockInParallel}) {
    std::vector<int> seen(kRows, 0);
    for_each(rows, 2, [&seen](int64_t first, int64_t count, Eigen::MatrixXd* block) {
      ASSERT_EQ(block->rows(), 2);
      ASSERT_EQ(block->cols(), kRowBlock);
      for (int64_t j = 0; j < count; ++j) {
        EXPECT_EQ((*block)(0, j), first + j);
        EXPECT_EQ((*block)(1, j), -(first + j));
        ++seen[first + j];
      }
      EXPECT_TRUE(block->rightCols(kRowBlock - count).isZero(0));
      block->setConstant(7);  // the next one is unaffected
    });
    EXPECT_EQ(seen, std::vector<int>(kRows, 1));
  }
}

TEST(RowBlocks, HasNothingToDoWithoutRows) {
  ForEachRowBlock({}, 3, [](int64_t, int64_t, Eigen::MatrixXd*) { ADD_FAILURE(); });
  ForEachRowBlockInParallel({}, 3, [](int64_t, int64_t, Eigen::MatrixXd*) { ADD_FAILURE(); });
}

struct Model {
  std::vector<float> features = {1, 2, -3, 0.5};      // 2 samples
  std::vector<float> weight = {1, 0, 0, 2, -1, 0.5};  // 3 outputs
  std::vector<float> bias = {0, 1, 2};
  ScoreInput Input() const { return WithHead(FeatureRows(features, 2, {}, 3), weight, bias); }
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

TEST(ClosedSetPrediction, AgreesWithGoldenValues) {
  const GoldenScores golden;
  EXPECT_THAT(ClosedSetPrediction(golden.Input(), 5).value(),
              ElementsAreArray(golden.golden().arrays.at("expected/prediction")));
}

TEST(ClosedSetPrediction, TakesTheFirstOfEqualLogitsAndPassesOverFurtherOutputs) {
  const std::vector<float> logits = {1, 1, 0, 2, 3, 9};
  const ScoreInput input = LogitRows(logits, 3);
  EXPECT_THAT(ClosedSetPrediction(input, 3).value(), ElementsAre(0, 2));
  EXPECT_THAT(ClosedSetPrediction(input, 2).value(), ElementsAre(0, 1));
}

TEST(ClosedSetPrediction, RefusesMoreClassesThanOutputs) {
  const std::vector<float> logits = {1, 1};
  const ScoreInput input = LogitRows(logits, 2);
  for (const int64_t classes : {0, 3}) {
    EXPECT_THAT(ClosedSetPrediction(input, classes), IsInvalidArgument("cannot be told apart by 2 outputs"));
  }
}

}  // namespace
}  // namespace openset

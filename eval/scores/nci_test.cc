
#include "eval/testing/score_rows.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// Two classes, two features, whose training mean is (1, 1).
struct Example {
  std::vector<float> train = {0, 0, 2, 2};
  std::vector<float> train_logits = {0, 0, 0, 0};
  std::vector<float> weight = {3, 4, 1, -1};
  std::vector<float> bias = {0, 0};

  ScoreInput Input(const std::vector<float>& features, const std::vector<float>& logits) const {
    return WithHead(FeatureRows(features, 2, logits, 2), weight, bias);
  }
};

TEST(Nci, IsTheProjectionOfTheWeightsPlusTheLength) {
  const Example example;
  MadeScore nci("nci { alpha: 0.5 }");
  ASSERT_TRUE(nci.Fit(example.Input(example.train, example.train_logits), {0, 1}).ok());
  // Class 0: (3, 4) . (1, 0) = 3. Class 1: (1, -1) . (0, -1) = 1. At the mean there is no direction.
  const std::vector<float> features = {3, 1, 1, 0, 1, 1};
  const std::vector<float> logits = {1, 0, 0, 1, 1, 0};
  const std::vector<double> scores = nci.Compute(example.Input(features, logits)).value();
  EXPECT_DOUBLE_EQ(scores[0], -(3 + 0.5 * 4));
  EXPECT_DOUBLE_EQ(scores[1], -(1 + 0.5 * 1));
  EXPECT_DOUBLE_EQ(scores[2], -(0 + 0.5 * 2));
}

TEST(Nci, RefusesOutputsOfAnotherNumber) {
  const Example example;
  MadeScore nci("nci { alpha: 0 }");
  ASSERT_TRUE(nci.Fit(example.Input(example.train, example.train_logits), {0, 1}).ok());
  ScoreInput input = example.Input({}, {});
  input.num_outputs = 3;
  EXPECT_EQ(nci.Compute(input).status().message(), "nci was fitted to 2 logits; these outputs have 3");
}

}  // namespace
}  // namespace openset

#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// Three classes, two features, whose training mean is (1, 1). Classes 1 and 2 have the same weights.
struct Example {
  std::vector<float> train = {0, 0, 2, 2};
  std::vector<float> train_logits = std::vector<float>(6, 0);
  std::vector<float> weight = {3, 4, 0, 0, 0, 0};
  std::vector<float> bias = {0, 0, 0};

  ScoreInput Input(const std::vector<float>& features, const std::vector<float>& logits) const {
    return WithHead(FeatureRows(features, 2, logits, 3), weight, bias);
  }
};

TEST(Fdbd, SumsTheDistancesToTheBoundaries) {
  const Example example;
  // |w_0 - w_1| = |w_0 - w_2| = 5; 1 and 2 have no boundary. (4, 5) is 5 from the mean and sqrt(41) from 0.
  const std::vector<float> features = {4, 5, 4, 5};
  const std::vector<float> logits = {10, 5, 0, 0, 20, 15};
  for (const bool centred : {true, false}) {
    MadeScore fdbd(centred ? "fdbd {}" : "fdbd { normaliser: NORM }");
    ASSERT_TRUE(fdbd.Fit(example.Input(example.train, example.train_logits), {0, 1}).ok());
    const std::vector<double> scores = fdbd.Compute(example.Input(features, logits)).value();
    const double length = centred ? 5 : std::sqrt(41);
    EXPECT_DOUBLE_EQ(scores[0], -(5.0 / 5 + 10.0 / 5) / length);
    EXPECT_DOUBLE_EQ(scores[1], -(20.0 / 5) / length);
  }
}

TEST(Fdbd, RefusesFeaturesWithoutADistance) {
  const Example example;
  MadeScore fdbd("fdbd {}");
  ASSERT_TRUE(fdbd.Fit(example.Input(example.train, example.train_logits), {0, 1}).ok());
  const std::vector<float> features = {4, 5, 1, 1};
  const std::vector<float> logits = std::vector<float>(6, 1);
  EXPECT_THAT(fdbd.Compute(example.Input(features, logits)).status().message(),
              HasSubstr("the features of row 1 are the mean"));
}

}  // namespace
}  // namespace openset

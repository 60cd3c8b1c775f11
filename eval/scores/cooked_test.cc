#include <cmath>
#include <vector>

#include "core/testing/status_matchers.h"
#include "eval/testing/golden.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

TEST(Cooked, AgreesWithTheReleasedCode) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGolden("zero_shot.json", "cooked")) {
    SCOPED_TRACE(golden.name);
    const std::vector<double>& values = golden.arrays.at("logits");
    const std::vector<float> logits(values.begin(), values.end());
    const auto outputs = static_cast<int64_t>(*golden.at("outputs"));
    const ScoreInput input = LogitRows(logits, outputs);
    const MadeScore most("cooked { classifiers: 3 last_temperature: 0.01 }");
    const MadeScore entropy("cooked { classifiers: 3 last_temperature: 0.01 value: ENTROPY }");
    const std::vector<double> scores = most.Compute(input).value(), entropies = entropy.Compute(input).value();
    const std::vector<int32_t> predictions = most.Predictions(input, outputs / 3).value().value();
    ASSERT_EQ(scores.size(), golden.arrays.at("max_softmax").size());
    for (size_t i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(scores[i], golden.arrays.at("max_softmax")[i], 1e-12) << i;
      EXPECT_NEAR(entropies[i], golden.arrays.at("entropy")[i], 1e-12) << i;
      EXPECT_EQ(predictions[i], golden.arrays.at("prediction")[i]) << i;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

// Probabilities (1/4, 3/4) and, at temperature 1/2, (9/10, 1/10).
TEST(Cooked, IsTheMeanOfProbabilities) {
  const std::vector<float> logits = {0, std::log(3.0f), std::log(3.0f), 0};
  const ScoreInput input = LogitRows(logits, 4);
  const MadeScore score("cooked { classifiers: 2 last_temperature: 0.5 }");
  EXPECT_NEAR(score.Compute(input).value()[0], -(0.25 + 0.9) / 2, 1e-7);
  const double p = (0.25 + 0.9) / 2;
  EXPECT_NEAR(MadeScore("cooked { classifiers: 2 last_temperature: 0.5 value: ENTROPY }").Compute(input).value()[0],
              -p * std::log(p) - (1 - p) * std::log(1 - p), 1e-7);
  const ProbabilityLogits own = score.Probabilities(input).value().value();
  ASSERT_EQ(own.num_outputs, 2);
  ASSERT_EQ(own.logits.size(), 2);
  EXPECT_NEAR(own.logits[0], std::log(p), 1e-6);
  EXPECT_NEAR(own.logits[1], std::log(1 - p), 1e-6);
}

TEST(Cooked, RefusesOutputsThatDoNotFit) {
  const std::vector<float> logits(6, 0);
  const ScoreInput input = LogitRows(logits, 6);
  EXPECT_THAT(MadeScore("cooked { classifiers: 4 }").Compute(input),
              IsInvalidArgument("6 outputs are not as many for each of 4 classifiers"));
  EXPECT_THAT(MadeScore("cooked { classifiers: 3 }").Predictions(input, 6),
              IsInvalidArgument("6 outputs of 3 classifiers are 2 classes, and there are 6 (num_classes)"));
}

}  // namespace
}  // namespace openset

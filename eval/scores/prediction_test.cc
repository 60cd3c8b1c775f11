#include "eval/scores/prediction.h"

#include "core/testing/status_matchers.h"
#include "eval/testing/golden_scores.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

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
    const absl::Status status = ClosedSetPrediction(input, classes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("cannot be told apart by 2 outputs"));
  }
}

}  // namespace
}  // namespace openset

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/golden.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

TEST(GlMcm, AgreesWithTheReleasedCode) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGolden("zero_shot.json", "gl_mcm")) {
    SCOPED_TRACE(golden.name);
    const std::vector<double>& values = golden.arrays.at("logits");
    const std::vector<float> logits(values.begin(), values.end());
    const auto outputs = static_cast<int64_t>(*golden.at("outputs"));
    const auto places = static_cast<int64_t>(*golden.at("places"));
    const ScoreInput input = LogitRows(logits, outputs);
    const MadeScore score(absl::StrCat("gl_mcm { places: ", places, " temperature: ", *golden.at("temperature"),
                                       " weight: ", *golden.at("weight"), " }"));
    const std::vector<double> scores = score.Compute(input).value();
    const std::vector<int32_t> predictions = score.Predictions(input, outputs / (1 + places)).value().value();
    const std::vector<double>&expected = golden.arrays.at("score"), &classes = golden.arrays.at("prediction");
    ASSERT_EQ(scores.size(), expected.size());
    for (size_t i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(scores[i], expected[i], 1e-12) << i;
      EXPECT_EQ(predictions[i], classes[i]) << i;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

// An image and two places of two classes; the second place is the surest.
TEST(GlMcm, TakesTheSurestPlace) {
  const std::vector<float> logits = {0, std::log(3.0f), 0, 0, std::log(9.0f), 0};
  const ScoreInput input = LogitRows(logits, 6);
  EXPECT_NEAR(MadeScore("gl_mcm { places: 2 }").Compute(input).value()[0], -0.75 - 0.9, 1e-7);
  EXPECT_NEAR(MadeScore("gl_mcm { places: 2 weight: 0 }").Compute(input).value()[0], -0.75, 1e-7);
  EXPECT_THAT(MadeScore("gl_mcm { places: 2 }").Predictions(input, 2).value().value(), ElementsAre(1));
}

TEST(GlMcm, RefusesOutputsThatDoNotFit) {
  const std::vector<float> logits(6, 0);
  const ScoreInput input = LogitRows(logits, 6);
  EXPECT_THAT(MadeScore("gl_mcm { places: 3 }").Compute(input),
              IsInvalidArgument("6 outputs are not as many for an image as for each of 3 places"));
  EXPECT_THAT(MadeScore("gl_mcm { places: 2 }").Predictions(input, 6),
              IsInvalidArgument("6 outputs of an image and 2 places are 2 classes, and there are 6 (num_classes)"));
}

}  // namespace
}  // namespace openset

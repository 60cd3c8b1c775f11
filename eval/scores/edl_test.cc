#include <cmath>
#include <vector>

#include "eval/testing/score_rows.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// Evidence max(z, 0): alpha (3, 1) and (1, 5); their shares 3/4 1/4 and 1/6 5/6.
TEST(Edl, ItsProbabilitiesAreTheExpectedOnes) {
  const std::vector<float> logits = {2, -1, 0, 4};
  const ScoreInput input = LogitRows(logits, 2);
  const MadeScore vacuity("edl_vacuity { evidence: RELU }");
  const MadeScore probability("edl_probability { evidence: RELU }");
  for (const MadeScore* score : {&vacuity, &probability}) {
    const ProbabilityLogits own = *score->Probabilities(input).value();
    const double expected[] = {3, 1, 1, 5};
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(std::exp(own.logits[i]), expected[i], 1e-6);
  }
}

}  // namespace
}  // namespace openset

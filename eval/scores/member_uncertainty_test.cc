#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

TEST(MemberUncertainty, IsAStoredColumn) {
  const std::vector<float> values = {0.5, 1, 0.25, 0, 2, 0.75};
  ScoreInput input;
  input.num_samples = 2;
  input.member_uncertainty = values;
  EXPECT_THAT(MadeScore("mutual_information {}").Compute(input).value(), ElementsAre(0.5, 0));
  EXPECT_THAT(MadeScore("expected_entropy {}").Compute(input).value(), ElementsAre(1, 2));
  EXPECT_THAT(MadeScore("variation_ratio {}").Compute(input).value(), ElementsAre(0.25, 0.75));
}

TEST(MemberUncertainty, RefusesOutputsOfOnePass) {
  ScoreInput input;
  input.num_samples = 1;
  const MadeScore score("mutual_information {}");
  EXPECT_THAT(score.Compute(input).status().message(), HasSubstr("needs member_uncertainty, which the outputs lack"));
  const std::vector<float> values = {NAN, 0, 0};
  input.member_uncertainty = values;
  EXPECT_THAT(score.Compute(input).status().message(), HasSubstr("not finite in row 0"));
  input.member_uncertainty = input.member_uncertainty.first(2);
  EXPECT_THAT(score.Compute(input).status().message(), HasSubstr("has 2 values; 1 samples need 3"));
}

}  // namespace
}  // namespace openset

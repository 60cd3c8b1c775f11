#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/golden.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

TEST(NegLabel, AgreesWithTheReleasedCode) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGolden("zero_shot.json", "cases")) {
    SCOPED_TRACE(golden.name);
    const std::vector<double>& values = golden.arrays.at("logits");
    const std::vector<float> logits(values.begin(), values.end());
    ScoreInput input;
    input.num_outputs = static_cast<int64_t>(*golden.at("outputs"));
    input.num_samples = static_cast<int64_t>(logits.size()) / input.num_outputs;
    input.logits = logits;
    const std::vector<double> scores =
        MadeScore(absl::StrCat("neg_label { other_texts: ", *golden.at("other_texts"),
                               " groups: ", *golden.at("groups"), " temperature: ", *golden.at("temperature"), " }"))
            .Compute(input)
            .value();
    const std::vector<double>& expected = golden.arrays.at("score");
    ASSERT_EQ(scores.size(), expected.size());
    for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], expected[i], 1e-12) << i;
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

// One known class, and texts far below it and far above it: each group counts the same.
TEST(NegLabel, AveragesGroups) {
  const std::vector<float> logits = {0, 1000, -1000};
  ScoreInput input;
  input.num_samples = 1;
  input.num_outputs = 3;
  input.logits = logits;
  EXPECT_NEAR(MadeScore("neg_label { other_texts: 2 groups: 2 }").Compute(input).value()[0], -0.5, 1e-15);
  EXPECT_NEAR(MadeScore("neg_label { other_texts: 2 }").Compute(input).value()[0], 0, 1e-15);
  EXPECT_THAT(std::string(MadeScore("neg_label { other_texts: 3 }").Compute(input).status().message()),
              ::testing::HasSubstr("of 3 outputs, 3 other_texts leave none for known classes"));
  EXPECT_THAT(std::string(MadeScore("neg_label { groups: 2 }").Compute(input).status().message()),
              ::testing::HasSubstr("1 other_texts are too few for 2 groups"));
}

}  // namespace
}  // namespace openset

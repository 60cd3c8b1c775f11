#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

double ScoreOf(const std::vector<float>& logits, double gamma, int64_t top) {
  return MadeScore(absl::StrCat("gen { gamma: ", gamma, " top: ", top, " }"))
      .Compute(LogitRows(logits, logits.size()))
      .value()[0];
}

TEST(Gen, SumsOverTheLargestProbabilities) {
  // p = (2, 4, 1, 1) / 8
  const std::vector<float> logits = {std::log(2.0f), std::log(4.0f), 0, 0};
  const double terms[] = {std::sqrt(4 * 4.0) / 8, std::sqrt(2 * 6.0) / 8, std::sqrt(7.0) / 8, std::sqrt(7.0) / 8};
  double expected = 0;
  for (int top = 1; top <= 4; ++top) {
    expected += terms[top - 1];
    EXPECT_NEAR(ScoreOf(logits, 0.5, top), expected, 1e-7) << top;
  }
  EXPECT_NEAR(ScoreOf(logits, 0.5, 100), expected, 1e-7);
  EXPECT_NEAR(ScoreOf({0, 0, 0, 0, 0}, 0.1, 100), 5 * std::pow(0.2 * 0.8, 0.1), 1e-14);
}

TEST(Gen, TellsConfidentSamplesApart) {
  // p_2 = exp(-50), far below the spacing of doubles at 1: both terms are exp(-50)^0.1.
  EXPECT_NEAR(ScoreOf({50, 0}, 0.1, 100), 2 * std::exp(-5), 1e-14);
  EXPECT_NEAR(ScoreOf({0, 5000}, 0.1, 1), 0, 1e-200);
  EXPECT_EQ(ScoreOf({3}, 0.1, 100), 0);  // one class is certain
}

TEST(Gen, RefusesInfiniteLogitsWithTheRow) {
  const std::vector<float> logits = {0, 1, INFINITY, INFINITY};
  const ScoreInput input = LogitRows(logits, 2);
  const absl::Status status = MadeScore("gen {}").Compute(input).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("row 1"));
}

}  // namespace
}  // namespace openset

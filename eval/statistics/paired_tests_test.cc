#include "eval/statistics/paired_tests.h"

#include <cmath>
#include <limits>
#include <vector>

#include "eval/testing/golden.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

TEST(ComparePairedRuns, AgreesWithGoldenValues) {
  for (const testing::GoldenCase& golden : testing::ReadGolden("statistics.json", "paired")) {
    SCOPED_TRACE(golden.name);
    const PairedTest test = ComparePairedRuns(golden.arrays.at("a"), golden.arrays.at("b")).value();
    EXPECT_NEAR(test.mean_difference, *golden.at("mean"), 1e-12);
    EXPECT_NEAR(test.cohen_dz, *golden.at("dz"), 1e-10);
    EXPECT_NEAR(test.low, *golden.at("low"), 1e-10);
    EXPECT_NEAR(test.high, *golden.at("high"), 1e-10);
    EXPECT_NEAR(test.t_p_value, *golden.at("t_p"), 1e-11);
    EXPECT_NEAR(test.wilcoxon_p_value, *golden.at("wilcoxon_p"), 1e-12);
    EXPECT_NEAR(test.rank_biserial, *golden.at("rank_biserial"), 1e-12);
    EXPECT_EQ(test.verdict, VerdictOf(test.low, test.high));
  }
}

TEST(ComparePairedRuns, KnowsNoDifferenceAndAConstantOne) {
  PairedTest test = ComparePairedRuns({1.0, 2.0, 3.0}, {1.0, 2.0, 3.0}).value();
  EXPECT_EQ(test.t_p_value, 1);
  EXPECT_EQ(test.wilcoxon_p_value, 1);
  EXPECT_EQ(test.cohen_dz, 0);
  EXPECT_EQ(test.verdict, Verdict::kNoDetectableDifference);
  test = ComparePairedRuns({1.0, 2.0, 3.0}, {1.5, 2.5, 3.5}).value();
  EXPECT_EQ(test.t_p_value, 0);
  EXPECT_EQ(test.cohen_dz, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(test.verdict, Verdict::kBLarger);
  EXPECT_EQ(test.rank_biserial, -1);
}

TEST(ComparePairedRuns, RefusesRunsThatCannotBePaired) {
  EXPECT_THAT(ComparePairedRuns({1.0}, {1.0}).status().message(), HasSubstr("two runs are needed"));
  EXPECT_THAT(ComparePairedRuns({1.0, 2.0}, {1.0}).status().message(), HasSubstr("2 runs of one and 1"));
  EXPECT_THAT(ComparePairedRuns({1.0, std::nan("")}, {1.0, 2.0}).status().message(), HasSubstr("run 1 is not finite"));
  EXPECT_THAT(ComparePairedRuns({1.0, 2.0}, {1.0, 2.0}, 0).status().message(), HasSubstr("confidence"));
  EXPECT_EQ(ComparePairedRuns({1.0}, {1.0}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace openset

#include "eval/statistics/paired_tests.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "eval/testing/golden.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

// Each run is a split of its own.
absl::StatusOr<PairedTest> Compare(const std::vector<double>& a, const std::vector<double>& b,
                                   double confidence = 0.95) {
  std::vector<int> split(a.size());
  std::iota(split.begin(), split.end(), 0);
  PairedTestOptions options;
  options.confidence = confidence;
  return ComparePairedRuns(a, b, split, options);
}

// Differences from 0.
PairedTest OfDifferences(const std::vector<double>& differences, const std::vector<int>& split,
                         const PairedTestOptions& options = {}) {
  return ComparePairedRuns(differences, std::vector<double>(differences.size(), 0.0), split, options).value();
}

TEST(ComparePairedRuns, AgreesWithGoldenValues) {
  for (const testing::GoldenCase& golden : testing::ReadGolden("statistics.json", "paired")) {
    SCOPED_TRACE(golden.name);
    const PairedTest test = Compare(golden.arrays.at("a"), golden.arrays.at("b")).value();
    EXPECT_NEAR(test.mean_difference, *golden.at("mean"), 1e-12);
    EXPECT_NEAR(test.cohen_dz, *golden.at("dz"), 1e-10);
    EXPECT_NEAR(test.low, *golden.at("low"), 1e-10);
    EXPECT_NEAR(test.high, *golden.at("high"), 1e-10);
    EXPECT_NEAR(*test.p_value, *golden.at("t_p"), 1e-11);
    EXPECT_NEAR(test.wilcoxon_p_value, *golden.at("wilcoxon_p"), 1e-12);
    EXPECT_NEAR(test.rank_biserial, *golden.at("rank_biserial"), 1e-12);
    EXPECT_EQ(test.verdict, VerdictOf(test.low, test.high));
  }
}

TEST(ComparePairedRuns, HandlesZeroAndConstantDifferences) {
  PairedTest test = Compare({1.0, 2.0, 3.0}, {1.0, 2.0, 3.0}).value();
  EXPECT_EQ(test.p_value, 1);
  EXPECT_EQ(test.wilcoxon_p_value, 1);
  EXPECT_EQ(test.cohen_dz, 0);
  EXPECT_EQ(test.differences, Differences::kZero);
  EXPECT_EQ(test.verdict, Verdict::kNoDetectableDifference);
  test = Compare({1.0, 2.0, 3.0}, {1.5, 2.5, 3.5}).value();
  EXPECT_FALSE(test.p_value.has_value());
  EXPECT_EQ(test.differences, Differences::kSame);
  EXPECT_EQ(test.cohen_dz, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(test.verdict, Verdict::kNoDetectableDifference);
  EXPECT_EQ(test.rank_biserial, -1);
}

// Differences that are equal but for rounding have no variance: no p of 1e-58.
TEST(ComparePairedRuns, TreatsRoundingAsNoVariance) {
  const PairedTest test = Compare({0.91, 0.82, 0.73, 0.64, 0.55}, {0.9, 0.81, 0.72, 0.63, 0.54}).value();
  EXPECT_FALSE(test.p_value.has_value());
  EXPECT_EQ(test.differences, Differences::kSame);
  EXPECT_NEAR(test.wilcoxon_p_value, 0.0625, 1e-15);  // 2 / 2^5
  EXPECT_EQ(test.verdict, Verdict::kNoDetectableDifference);
}

TEST(ComparePairedRuns, TakesTiesAndZerosFromThePermutationDistribution) {
  for (const testing::GoldenCase& golden : testing::ReadGolden("statistics.json", "wilcoxon_exact")) {
    const std::vector<double>& d = golden.arrays.at("differences");
    const PairedTest test = Compare(d, std::vector<double>(d.size(), 0.0)).value();
    EXPECT_NEAR(test.wilcoxon_p_value, *golden.at("p"), 1e-13) << golden.name;
  }
}

TEST(ComparePairedRuns, ReplicatesAreSplits) {
  // Split means 2 and 4, whatever their seeds: mean 3, standard error sqrt(2) / sqrt(2), 1 degree of freedom.
  const PairedTest test = OfDifferences({1.9, 2.0, 2.1, 3.9, 4.1}, {0, 0, 0, 1, 1});
  EXPECT_EQ(test.runs, 5);
  EXPECT_EQ(test.splits, 2);
  EXPECT_EQ(test.replicates, 2);
  EXPECT_NEAR(test.mean_difference, 3, 1e-12);
  EXPECT_NEAR(test.standard_error, 1, 1e-12);
  EXPECT_NEAR(test.high, 3 + 12.706204736174705, 1e-9);
  EXPECT_NEAR(*test.p_value, 1 - 2 / 3.14159265358979324 * std::atan(3), 1e-12);  // Cauchy
  EXPECT_EQ(test.wilcoxon_p_value, 0.5);
}

TEST(ComparePairedRuns, SeedsThatVaryMoreThanSplitsDecideTheError) {
  // Split means 1 and 1.2, variance 0.02; means over two seeds vary by 2 / 2 = 1.
  const PairedTest test = OfDifferences({0, 2, 0.2, 2.2}, {3, 3, 8, 8});
  EXPECT_NEAR(test.standard_error, std::sqrt(2.0 / 2 / 2), 1e-12);
  EXPECT_NEAR(test.cohen_dz, 1.1 / std::sqrt(0.02), 1e-9);
}

// Split means that happen to be equal, 0.02 and 0.02, still vary by their seeds: by 0.0002 / 2 each.
TEST(ComparePairedRuns, SeedsDecideTheErrorIfSplitsAreAlike) {
  const PairedTest test = OfDifferences({0.01, 0.03, 0.03, 0.01}, {0, 0, 1, 1});
  EXPECT_EQ(test.replicates, 2);
  EXPECT_EQ(test.differences, Differences::kVary);
  EXPECT_NEAR(test.mean_difference, 0.02, 1e-15);
  const double error = std::sqrt(0.0001 / 2);
  EXPECT_NEAR(test.standard_error, error, 1e-15);
  EXPECT_NEAR(test.low, 0.02 - 12.706204736174705 * error, 1e-12);
  EXPECT_NEAR(*test.p_value, 1 - 2 / 3.14159265358979324 * std::atan(0.02 / error), 1e-12);  // Cauchy
  EXPECT_EQ(test.cohen_dz, std::numeric_limits<double>::infinity());  // of the replicates, which are equal
  const PairedTest none = OfDifferences({-0.01, 0.01, 0.01, -0.01}, {0, 0, 1, 1});
  EXPECT_NEAR(none.standard_error, error, 1e-15);
  EXPECT_EQ(none.p_value, 1);
  EXPECT_EQ(none.cohen_dz, 0);
}

TEST(ComparePairedRuns, OneSplitIsTestedOverItsSeeds) {
  const PairedTest test = OfDifferences({1, 2, 3, 6}, {5, 5, 5, 5});
  EXPECT_EQ(test.splits, 1);
  EXPECT_EQ(test.replicates, 4);
  EXPECT_NEAR(test.standard_error, std::sqrt(14.0 / 3 / 4), 1e-12);  // deviations -2 -1 0 3
}

TEST(ComparePairedRuns, CorrectsForSplitsThatShareSamples) {
  PairedTestOptions options;
  options.test_per_training = 0.25;
  const PairedTest test = OfDifferences({1, 2, 3, 6}, {0, 1, 2, 3}, options);
  EXPECT_NEAR(test.standard_error, std::sqrt(14.0 / 3 * (0.25 + 0.25)), 1e-12);
}

TEST(ComparePairedRuns, RefusesRunsThatCannotBePaired) {
  EXPECT_THAT(Compare({1.0}, {1.0}).status().message(), HasSubstr("two runs are needed"));
  EXPECT_THAT(Compare({1.0, 2.0}, {1.0}).status().message(), HasSubstr("2 runs of one and 1"));
  EXPECT_THAT(Compare({1.0, std::nan("")}, {1.0, 2.0}).status().message(), HasSubstr("run 1 is not finite"));
  EXPECT_THAT(Compare({1.0, 2.0}, {1.0, 2.0}, 0).status().message(), HasSubstr("confidence"));
  EXPECT_EQ(Compare({1.0}, {1.0}).status().code(), absl::StatusCode::kInvalidArgument);
  PairedTestOptions options;
  options.test_per_training = -1;
  EXPECT_THAT(ComparePairedRuns({1.0, 2.0}, {1.0, 3.0}, {0, 1}, options).status().message(),
              HasSubstr("test_per_training"));
}

}  // namespace
}  // namespace openset

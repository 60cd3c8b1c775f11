#include "eval/statistics/paired_tests.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>

#include "core/random.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "eval/statistics/delong.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

TEST(MidRanks, AveragesTiesAndCountsTheirCubes) {
  const MidRanks ranks = MidRanksOf({3.0, 1.0, 3.0, 2.0, 3.0});
  EXPECT_THAT(ranks.rank, ElementsAre(4, 1, 4, 2, 4));
  EXPECT_EQ(ranks.tie_cubes, 27 - 3);
  EXPECT_TRUE(MidRanksOf({}).rank.empty());
}

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
  for (const GoldenCase& golden : ReadGolden("statistics.json", "paired")) {
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
  for (const GoldenCase& golden : ReadGolden("statistics.json", "wilcoxon_exact")) {
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

TEST(CompareMethods, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("statistics.json", "friedman")) {
    SCOPED_TRACE(golden.name);
    const std::vector<double>& flat = golden.arrays.at("values");
    const int k = static_cast<int>(*golden.at("methods"));
    std::vector<std::vector<double>> value;
    for (size_t i = 0; i < flat.size(); i += k) value.emplace_back(flat.begin() + i, flat.begin() + i + k);
    const FriedmanTest test = CompareMethods(value, *golden.at("higher") == 1).value();
    for (int m = 0; m < k; ++m) EXPECT_NEAR(test.mean_rank[m], golden.arrays.at("mean_rank")[m], 1e-12);
    EXPECT_NEAR(test.chi_squared, *golden.at("chi2"), 1e-10);
    EXPECT_NEAR(test.chi_squared_p_value, *golden.at("p"), 1e-12);
    EXPECT_NEAR(test.iman_davenport, *golden.at("f"), 1e-9);
    EXPECT_NEAR(test.iman_davenport_p_value, *golden.at("f_p"), 1e-12);
    EXPECT_NEAR(test.critical_difference, *golden.at("cd"), 1e-8);
    for (int i = 0; i < k * k; ++i) {
      EXPECT_NEAR(test.nemenyi_p_value[i / k][i % k], golden.arrays.at("nemenyi")[i], 1e-9);
    }
  }
}

TEST(CompareMethods, DrawsTheBarsOfTheDiagram) {
  // Ranks 1, 2, 3, 4 in all of n tasks; for four methods q / sqrt(2) = 2.569, so the critical difference is
  // 2.569 * sqrt(20 / (6 n)).
  const auto same_ranks = [](int tasks) { return std::vector<std::vector<double>>(tasks, {0.1, 0.4, 0.2, 0.3}); };
  FriedmanTest test = CompareMethods(same_ranks(6), true).value();
  EXPECT_NEAR(test.critical_difference, 2.569 * std::sqrt(20.0 / 36), 1e-3);  // 1.915
  EXPECT_THAT(test.mean_rank, ElementsAre(4, 1, 3, 2));
  EXPECT_THAT(test.by_rank, ElementsAre(1, 3, 2, 0));
  ASSERT_EQ(test.bars.size(), 3);
  for (int bar = 0; bar < 3; ++bar) {
    EXPECT_EQ(test.bars[bar].first, bar);
    EXPECT_EQ(test.bars[bar].last, bar + 1);
  }
  EXPECT_NEAR(test.kendall_w, 1, 1e-12);
  EXPECT_TRUE(CompareMethods(same_ranks(40), true)->bars.empty());  // 0.74
}

TEST(CompareMethods, DoesNotComparePairsWithoutARejection) {
  // Two tasks of the same order: one of 4! orders of the second, p = 1/24 = 0.042; at 0.01 nothing is rejected.
  const std::vector<std::vector<double>> twice(2, {0.1, 0.4, 0.2, 0.3});
  EXPECT_NEAR(*CompareMethods(twice, true)->exact_p_value, 1.0 / 24, 1e-12);
  EXPECT_TRUE(CompareMethods(twice, true)->rejected);
  const FriedmanTest test = CompareMethods(twice, true, 0.01).value();
  EXPECT_FALSE(test.rejected);
  ASSERT_EQ(test.bars.size(), 1);
  EXPECT_EQ(test.bars[0].first, 0);
  EXPECT_EQ(test.bars[0].last, 3);
}

TEST(CompareMethods, ExactPAgreesWithEnumeration) {
  for (const GoldenCase& golden : ReadGolden("statistics.json", "friedman_exact")) {
    const std::vector<double>& flat = golden.arrays.at("values");
    const int k = static_cast<int>(*golden.at("methods"));
    std::vector<std::vector<double>> value;
    for (size_t i = 0; i < flat.size(); i += k) value.emplace_back(flat.begin() + i, flat.begin() + i + k);
    EXPECT_NEAR(CompareMethods(value, true)->exact_p_value.value(), *golden.at("p"), 1e-12) << golden.name;
  }
  // Six of seven methods are equal on three tasks: each task has 7 distinct orders, and (1 / 7)^2 is the chance that
  // the second and third have the order of the first. Iman and Davenport's p-value, k!^(1 - n), knows no ties.
  const std::vector<std::vector<double>> one_better(3, {1, 1, 1, 1, 1, 1, 2});
  EXPECT_NEAR(CompareMethods(one_better, true)->exact_p_value.value(), 1.0 / 49, 1e-12);
}

// 3,881 of the 9! orders of the second task have a sum of squared distances of ranks of at most 28, by enumeration in
// Python. The standard error of 20,000 draws is 0.00073.
TEST(CompareMethods, DrawsOrdersIfThereAreTooMany) {
  const std::vector<std::vector<double>> value = {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 1, 5, 2, 4, 9, 6, 8, 7}};
  const FriedmanTest test = CompareMethods(value, true).value();
  EXPECT_FALSE(test.exact_p_value.has_value());
  EXPECT_NEAR(test.p_value, 3881 / 362880.0, 4 * 0.00073);
  EXPECT_EQ(CompareMethods(value, true)->p_value, test.p_value);
}

TEST(CompareMethods, FindsNoDifferenceBetweenEqualMethods) {
  const FriedmanTest test = CompareMethods({{1, 1, 1}, {2, 2, 2}}, true).value();
  EXPECT_EQ(test.p_value, 1);
  EXPECT_EQ(test.kendall_w, 0);
  EXPECT_NEAR(test.nemenyi_p_value[0][1], 1, 1e-12);
}

TEST(CompareMethods, RefusesTablesWithHoles) {
  EXPECT_THAT(CompareMethods({{1, 2}}, true).status().message(), HasSubstr("two tasks"));
  EXPECT_THAT(CompareMethods({{1}, {2}}, true).status().message(), HasSubstr("two methods"));
  EXPECT_THAT(CompareMethods({{1, 2}, {2}}, true).status().message(), HasSubstr("task 1 has 1 methods"));
  EXPECT_THAT(CompareMethods({{1, 2}, {2, std::nan("")}}, true).status().message(), HasSubstr("task 1, method 1"));
  EXPECT_THAT(CompareMethods({{1, 2}, {2, 1}}, true, 0).status().message(), HasSubstr("alpha"));
}

TEST(HolmAdjusted, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("statistics.json", "holm")) {
    const std::vector<double> adjusted = HolmAdjusted(golden.arrays.at("p"));
    for (size_t i = 0; i < adjusted.size(); ++i) EXPECT_NEAR(adjusted[i], golden.arrays.at("adjusted")[i], 1e-15);
  }
}

// Ascending 0.005 < 0.05 / 4, 0.01 < 0.05 / 3, 0.03 >= 0.05 / 2: what follows is held to 0.05 / 2 as well.
TEST(HolmLevels, AreThoseThatEachTestIsHeldTo) {
  const std::vector<double> p_values = {0.01, 0.04, 0.03, 0.005};
  const std::vector<double> levels = HolmLevels(p_values, 0.05);
  EXPECT_THAT(levels, ::testing::Pointwise(::testing::DoubleEq(), {0.05 / 3, 0.025, 0.025, 0.0125}));
  EXPECT_TRUE(HolmLevels({}, 0.05).empty());
  EXPECT_THAT(HolmLevels({0.2}, 0.05), ::testing::Pointwise(::testing::DoubleEq(), {0.05}));
}

TEST(HolmLevels, APValueIsBelowItsLevelWhereTheAdjustedOneIsBelowAlpha) {
  RandomStream random(1, "holm");
  for (int draw = 0; draw < 500; ++draw) {
    std::vector<double> p_values(1 + random.Below(10));
    for (double& p : p_values) p = std::pow(random.Uniform(), 4);  // many small ones
    const std::vector<double> levels = HolmLevels(p_values, 0.05), adjusted = HolmAdjusted(p_values);
    for (size_t i = 0; i < p_values.size(); ++i) EXPECT_EQ(p_values[i] < levels[i], adjusted[i] < 0.05);
  }
}

// 200 known and 200 unknown samples, the unknown ones `shift` standard deviations above.
Samples NormalSamples(double shift, double noise) {
  RandomStream random(3, "paired");
  RandomStream extra(4, "noise");
  Samples samples;
  for (int i = 0; i < 400; ++i) {
    samples.label.push_back(i % 2 == 0 ? 0 : kUnknownLabel);
    samples.prediction.push_back(0);
    samples.unknown_score.push_back(random.Normal() + shift * (i % 2) + noise * extra.Normal());
  }
  return samples;
}

absl::StatusOr<PairedDifference> Compare(const Samples& a, const Samples& b, int replicates, double confidence = 0.95) {
  std::vector<MetricSpec> metrics(1);
  metrics[0].mutable_auroc();
  const RankedInput of_a(a.Input());
  const RankedInput of_b(b.Input());
  BootstrapOptions options;
  options.replicates = replicates;
  options.confidence = confidence;
  const absl::StatusOr<std::vector<MethodPair>> pairs = PairedBootstrap(metrics, {&of_a, &of_b}, options);
  if (!pairs.ok()) return pairs.status();
  return pairs->at(0).metrics.at(0);
}

TEST(PairedBootstrap, SeesADifferenceThatSharedSamplesCannotExplain) {
  const Samples a = NormalSamples(1.5, 0.1);
  const Samples b = NormalSamples(1.0, 0.1);
  const PairedDifference result = Compare(a, b, 500).value();
  EXPECT_NEAR(*result.difference.value, *result.value_a - *result.value_b, 1e-15);
  EXPECT_GT(result.difference.low, 0);
  EXPECT_EQ(result.verdict, Verdict::kALarger);
  // None of 500 replicates lies at or below 0: below the 2 / 501 of counting, and of the size of DeLong's.
  const double delong = DeLongPaired(RankedInput(a.Input()), RankedInput(b.Input()), PairStatistic::kAuroc)->p_value;
  EXPECT_LT(result.p_value, 2.0 / 501);
  EXPECT_NEAR(std::log10(result.p_value) / std::log10(delong), 1, 0.25);
  const PairedDifference reversed = Compare(b, a, 500).value();
  EXPECT_EQ(reversed.verdict, Verdict::kBLarger);
  EXPECT_NEAR(*reversed.difference.value, -*result.difference.value, 1e-15);
}

TEST(PairedBootstrap, FindsNoDifferenceBetweenAMethodAndItself) {
  const Samples a = NormalSamples(1, 0);
  const PairedDifference result = Compare(a, a, 100).value();
  EXPECT_EQ(result.difference.value, 0);
  EXPECT_EQ(result.difference.low, 0);
  EXPECT_EQ(result.difference.high, 0);
  EXPECT_EQ(result.p_value, 1);
  EXPECT_EQ(result.verdict, Verdict::kNoDetectableDifference);
}

TEST(PairedBootstrap, IntervalAndPValueAgree) {
  int counted = 0;
  // With more noise, a shift of about 1.15 gives what 1 does without.
  for (const double shift : {1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.6}) {
    const PairedDifference at_95 = Compare(NormalSamples(shift, 0.8), NormalSamples(1.0, 0.5), 400).value();
    ASSERT_GT(at_95.p_value, 0);
    ASSERT_LT(at_95.p_value, 1);
    // The interval of confidence 1 - p ends at 0, as long as the tail was counted.
    if (at_95.p_value > 0.06) {
      const PairedDifference at_p =
          Compare(NormalSamples(shift, 0.8), NormalSamples(1.0, 0.5), 400, 1 - at_95.p_value).value();
      EXPECT_NEAR(std::min(std::abs(at_p.difference.low), std::abs(at_p.difference.high)), 0, 1e-9) << shift;
      ++counted;
    }
    EXPECT_EQ(at_95.p_value < 0.05, at_95.verdict != Verdict::kNoDetectableDifference) << shift;
  }
  EXPECT_GE(counted, 1);
}

// Eleven methods, each clearly better than the one before: Holm's p over the 55 pairs finds them all.
TEST(PairedBootstrap, HasPValuesSmallEnoughForManyPairs) {
  std::vector<Samples> samples;
  for (int m = 0; m < 11; ++m) samples.push_back(NormalSamples(0.3 * m, 0.1));
  std::deque<RankedInput> ranked;
  std::vector<const RankedInput*> methods;
  for (const Samples& one : samples) methods.push_back(&ranked.emplace_back(one.Input()));
  BootstrapOptions options;
  options.replicates = 500;
  const std::vector<MethodPair> pairs = PairedBootstrap({Parsed<MetricSpec>("auroc {}")}, methods, options).value();
  ASSERT_EQ(pairs.size(), 55);
  std::vector<double> p_values;
  for (const MethodPair& pair : pairs) p_values.push_back(pair.metrics[0].p_value);
  int detected = 0;
  for (const double p : HolmAdjusted(p_values)) detected += p < 0.05;
  EXPECT_EQ(detected, 55);
}

TEST(PairedBootstrap, RefusesOtherSamples) {
  const Samples a = NormalSamples(1, 0);
  Samples b = a;
  b.label[0] = kUnknownLabel;
  EXPECT_EQ(Compare(a, b, 100).status().code(), absl::StatusCode::kInvalidArgument);
  b = a;
  b.group.assign(400, 0);
  EXPECT_EQ(Compare(a, b, 100).status().code(), absl::StatusCode::kInvalidArgument);
  b = a;
  b.label.pop_back();
  b.prediction.pop_back();
  b.unknown_score.pop_back();
  EXPECT_EQ(Compare(a, b, 100).status().message(),
            "the methods must have the same samples in the same order: they have 400 and 399");
}

}  // namespace
}  // namespace openset

#include "eval/statistics/several_methods.h"

#include <cmath>
#include <vector>

#include "core/random.h"
#include "eval/testing/golden.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CompareMethods, AgreesWithGoldenValues) {
  for (const testing::GoldenCase& golden : testing::ReadGolden("statistics.json", "friedman")) {
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
  for (const testing::GoldenCase& golden : testing::ReadGolden("statistics.json", "friedman_exact")) {
    const std::vector<double>& flat = golden.arrays.at("values");
    const int k = static_cast<int>(*golden.at("methods"));
    std::vector<std::vector<double>> value;
    for (size_t i = 0; i < flat.size(); i += k) value.emplace_back(flat.begin() + i, flat.begin() + i + k);
    EXPECT_NEAR(CompareMethods(value, true)->exact_p_value.value(), *golden.at("p"), 1e-12) << golden.name;
  }
  // 7 methods: Iman and Davenport's.
  const std::vector<std::vector<double>> seven = {{1, 2, 3, 4, 5, 6, 7}, {2, 1, 3, 4, 5, 7, 6}};
  EXPECT_FALSE(CompareMethods(seven, true)->exact_p_value.has_value());
  EXPECT_EQ(CompareMethods(seven, true)->p_value, CompareMethods(seven, true)->iman_davenport_p_value);
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
  for (const testing::GoldenCase& golden : testing::ReadGolden("statistics.json", "holm")) {
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

}  // namespace
}  // namespace openset

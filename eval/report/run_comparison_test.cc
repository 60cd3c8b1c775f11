#include "eval/report/run_comparison.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// `methods` over `tasks` with 4 runs each; the value is 0.1 a method and 0.01 a run, and a little that tells the pairs'
// differences apart.
RunTable Table(int methods, int tasks, const std::string& metric) {
  RunTable table;
  table.metrics = {metric};
  for (int m = 0; m < methods; ++m) {
    table.methods.push_back(absl::StrCat("m", m));
    for (int t = 0; t < tasks; ++t) {
      const std::string task = absl::StrCat("t", t);
      if (m == 0) table.tasks.push_back(task);
      for (int r = 0; r < 4; ++r) {
        table.value[metric][table.methods.back()][task][absl::StrCat("r", r)] =
            0.1 * m + 0.01 * r + 0.001 * m * (r % 2);
      }
    }
  }
  return table;
}

// Differences m0 - m1: -0.1, -0.101, -0.1, -0.101; mean -0.1005, t = mean / (0.000577 / 2).
TEST(CompareRuns, Pairs) {
  const absl::StatusOr<RunComparison> comparison = CompareRuns(Table(2, 1, "auroc"), {}, 0.95);
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  ASSERT_EQ(comparison->pairs.size(), 1);
  const ComparedRuns& row = comparison->pairs[0];
  EXPECT_EQ(row.test.runs, 4);
  EXPECT_NEAR(row.test.mean_difference, -0.1005, 1e-12);
  EXPECT_EQ(row.test.rank_biserial, -1);
  EXPECT_EQ(row.adjusted_t, row.test.t_p_value);
  EXPECT_EQ(row.verdict, "m1 is better");
  EXPECT_THAT(comparison->methods, IsEmpty());
  EXPECT_EQ(CompareRuns(Table(2, 1, "ece"), {}, 0.95)->pairs[0].verdict, "m0 is better");  // lower is better
}

TEST(CompareRuns, NoDetectableDifference) {
  RunTable table = Table(2, 1, "auroc");
  table.value["auroc"]["m1"]["t0"] = {{"r0", 0.02}, {"r1", 0.0}, {"r2", 0.03}, {"r3", 0.02}, {"r9", 5}};
  const absl::StatusOr<RunComparison> comparison = CompareRuns(table, {}, 0.95);
  EXPECT_EQ(comparison->pairs[0].verdict, "no detectable difference");
  EXPECT_EQ(comparison->pairs[0].test.runs, 4);  // r9 has no partner
}

TEST(CompareRuns, SeveralMethodsOverTasks) {
  const absl::StatusOr<RunComparison> comparison = CompareRuns(Table(3, 5, "auroc"), {"auroc"}, 0.95);
  ASSERT_TRUE(comparison.ok());
  EXPECT_EQ(comparison->pairs.size(), 15);
  ASSERT_EQ(comparison->methods.size(), 1);
  EXPECT_THAT(comparison->methods[0].test.mean_rank, ElementsAre(3, 2, 1));
  const std::string text = FormatRunComparison(*comparison, TextFormat::kText);
  EXPECT_THAT(text, HasSubstr("auroc over 5 tasks: Kendall's W 1.00"));
  EXPECT_THAT(text, HasSubstr("m2           1.00                   m1\n"));
  EXPECT_THAT(FormatRunComparison(*comparison, TextFormat::kJson), HasSubstr("\"critical_difference\""));
}

TEST(CompareRuns, SaysWhatIsLeftOut) {
  RunTable table = Table(3, 3, "auroc");
  table.value["auroc"]["m2"].erase("t1");
  table.value["auroc"]["m1"]["t0"] = {{"r0", 1}};
  const absl::StatusOr<RunComparison> comparison = CompareRuns(table, {}, 0.95);
  EXPECT_THAT(FormatRunComparison(*comparison, TextFormat::kText),
              HasSubstr("left out: auroc: task t1: not every method has results"));
  EXPECT_THAT(comparison->left_out[0], HasSubstr("auroc: m0 and m1 on t0: "));
}

TEST(CompareRuns, Refuses) {
  EXPECT_THAT(std::string(CompareRuns(Table(1, 2, "auroc"), {}, 0.95).status().message()),
              HasSubstr("there is one method only"));
  EXPECT_THAT(std::string(CompareRuns(Table(2, 2, "mine"), {}, 0.95).status().message()),
              HasSubstr("unknown metric 'mine'"));
  EXPECT_THAT(std::string(CompareRuns(Table(2, 2, "auroc"), {"ece"}, 0.95).status().message()),
              HasSubstr("there are no results of ece, only of auroc"));
}

}  // namespace
}  // namespace openset

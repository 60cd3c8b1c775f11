#include "eval/report/run_comparison.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "eval/report/run_comparison_report.h"

namespace openset {
namespace {

// `methods` over `tasks` with 4 splits each; the value is 0.1 a method and 0.01 a run, and a little that tells the
// pairs' differences apart.
RunTable Table(int methods, int tasks, const std::string& metric) {
  RunTable table;
  table.metrics = {metric};
  for (int m = 0; m < methods; ++m) {
    table.methods.push_back(absl::StrCat("m", m));
    for (int t = 0; t < tasks; ++t) {
      const std::string task = absl::StrCat("t", t);
      if (m == 0) table.tasks.push_back(task);
      for (int r = 0; r < 4; ++r) {
        table.value[metric][table.methods.back()][task][Run{absl::StrCat(r), "0"}] =
            0.1 * m + 0.01 * r + 0.001 * m * (r % 2);
      }
    }
  }
  return table;
}

// A study names its metrics, and the settings of a metric aren't in its name.
TEST(CompareRuns, MetricsOfReportsAreWhatTheReportSays) {
  RunTable table = Table(2, 1, "outer_95");
  EXPECT_THAT(CompareRuns(table, {}, {}).status().message(), HasSubstr("unknown metric 'outer_95'"));
  Display& display = table.display["outer_95"];
  display.label = "outer score (threshold of the method)";
  display.higher_is_better = false;
  const RunComparison comparison = CompareRuns(table, {"outer_95"}, {}).value();
  EXPECT_EQ(comparison.pairs[0].display.label, "outer score (threshold of the method)");
  EXPECT_EQ(comparison.pairs[0].verdict, "m0 is better");
}

// Differences m0 - m1: -0.1, -0.101, -0.1, -0.101; mean -0.1005, t = mean / (0.000577 / 2).
TEST(CompareRuns, Pairs) {
  ASSERT_OK_AND_ASSIGN(const RunComparison comparison, CompareRuns(Table(2, 1, "auroc"), {}, {}));
  ASSERT_EQ(comparison.pairs.size(), 1);
  const ComparedRuns& row = comparison.pairs[0];
  EXPECT_EQ(row.test.runs, 4);
  EXPECT_NEAR(row.test.mean_difference, -0.1005, 1e-12);
  EXPECT_EQ(row.test.rank_biserial, -1);
  EXPECT_EQ(*row.adjusted_p_value, *row.test.p_value);
  EXPECT_EQ(row.verdict, "m1 is better");
  EXPECT_THAT(comparison.methods, IsEmpty());
  EXPECT_EQ(CompareRuns(Table(2, 1, "ece"), {}, {})->pairs[0].verdict, "m0 is better");  // lower is better
}

// Other spellings of a level than the shortest one are names too: of the table's columns, and in the result.
TEST(CompareRuns, KeepsTheTablesNamesOfMetrics) {
  RunTable table = Table(3, 2, "fpr_at_0.80tpr");
  table.metrics.push_back("risk_at_.9coverage");
  table.value["risk_at_.9coverage"] = table.value["fpr_at_0.80tpr"];
  ASSERT_OK_AND_ASSIGN(const RunComparison comparison,
                       CompareRuns(table, {"fpr_at_0.80tpr", "risk_at_.9coverage"}, {}));
  ASSERT_EQ(comparison.pairs.size(), 12);  // of 3 pairs on 2 tasks
  EXPECT_EQ(comparison.pairs[0].metric, "fpr_at_0.80tpr");
  EXPECT_NEAR(comparison.pairs[0].test.mean_difference, -0.1005, 1e-12);
  EXPECT_EQ(comparison.pairs[0].verdict, "m0 is better");  // lower is better
  EXPECT_EQ(comparison.pairs[6].metric, "risk_at_.9coverage");
  ASSERT_EQ(comparison.methods.size(), 2);
  EXPECT_EQ(comparison.methods[0].metric, "fpr_at_0.80tpr");
}

TEST(CompareRuns, NoDetectableDifference) {
  RunTable table = Table(2, 1, "auroc");
  table.value["auroc"]["m1"]["t0"] = {
      {{"0", "0"}, 0.02}, {{"1", "0"}, 0.0}, {{"2", "0"}, 0.03}, {{"3", "0"}, 0.02}, {{"9", "0"}, 0.5}};
  const absl::StatusOr<RunComparison> comparison = CompareRuns(table, {}, {});
  EXPECT_EQ(comparison->pairs[0].verdict, "no detectable difference");
  EXPECT_TRUE(comparison->pairs[0].is_tested);
  EXPECT_EQ(comparison->pairs[0].test.runs, 4);  // split 9 has no partner
  EXPECT_EQ(comparison->pairs[0].unpaired, 1);
  EXPECT_THAT(
      comparison->left_out,
      ElementsAre("auroc: m0 and m1 on t0: 1 run without a partner (the same split and seed of the other method)"));
}

TEST(CompareRuns, SeveralMethodsOverTasks) {
  ASSERT_OK_AND_ASSIGN(const RunComparison comparison, CompareRuns(Table(3, 5, "auroc"), {"auroc"}, {}));
  EXPECT_EQ(comparison.pairs.size(), 15);
  ASSERT_EQ(comparison.methods.size(), 1);
  EXPECT_THAT(comparison.methods[0].test.mean_rank, ElementsAre(3, 2, 1));
  const std::string text = FormatRunComparison(comparison, TextFormat::kText);
  EXPECT_THAT(text, HasSubstr("auroc over 5 tasks: Kendall's W 1.00"));
  EXPECT_THAT(text, HasSubstr("m2           1.00                   m1\n"));
  EXPECT_THAT(text, HasSubstr("assumes: splits are independent draws"));
  EXPECT_THAT(FormatRunComparison(comparison, TextFormat::kJson), HasSubstr("\"critical_difference\""));
}

// Two levels of each task vary together: they count as two tasks, not four, and there is no critical difference without
// a rejection.
TEST(CompareRuns, LevelsOfATaskAreOneBlock) {
  RunTable table = Table(3, 4, "auroc");
  table.block = {{"t0", "a"}, {"t1", "a"}, {"t2", "b"}, {"t3", "b"}};
  const RunComparison comparison = CompareRuns(table, {}, {}).value();
  ASSERT_EQ(comparison.methods.size(), 1);
  EXPECT_EQ(comparison.methods[0].tasks, 2);
  EXPECT_NEAR(comparison.methods[0].test.p_value, 1.0 / 6, 1e-12);  // the second task has one of 3! orders
  const std::string text = FormatRunComparison(comparison, TextFormat::kText);
  EXPECT_THAT(text, HasSubstr("p 0.1667 (exact"));
  EXPECT_THAT(text, HasSubstr("; no detectable difference among\n  the methods\n"));
  EXPECT_THAT(FormatRunComparison(comparison, TextFormat::kJson), Not(HasSubstr("\"critical_difference\"")));
  EXPECT_EQ(comparison.pairs.size(), 12);
}

// Seeds of two splits: the splits are the replicates, whatever the number of seeds.
TEST(CompareRuns, SeedsOfASplitAreNoReplicates) {
  RunTable table;
  table.methods = {"a", "b"};
  table.tasks = {"t"};
  table.metrics = {"auroc"};
  for (int seed = 0; seed < 5; ++seed) {
    const std::string name = absl::StrCat(seed);
    table.value["auroc"]["a"]["t"][{"0", name}] = 0.9 + 0.001 * seed;
    table.value["auroc"]["b"]["t"][{"0", name}] = 0.88;
    table.value["auroc"]["a"]["t"][{"1", name}] = 0.9 + 0.001 * seed;
    table.value["auroc"]["b"]["t"][{"1", name}] = 0.89;
  }
  const RunComparison comparison = CompareRuns(table, {}, {}).value();
  EXPECT_EQ(comparison.pairs[0].test.runs, 10);
  EXPECT_EQ(comparison.pairs[0].test.splits, 2);
  EXPECT_EQ(comparison.pairs[0].verdict, "not tested: fewer than 3 splits (2)");
  EXPECT_FALSE(comparison.pairs[0].is_tested);
  // Nor is a difference on which two splits agree.
  for (auto& [run, value] : table.value["auroc"]["a"]["t"]) value = run.split == "0" ? 0.98 : 0.9901;
  const RunComparison alike = CompareRuns(table, {}, {}).value();
  EXPECT_LT(*alike.pairs[0].test.p_value, 0.001);
  EXPECT_FALSE(alike.pairs[0].adjusted_p_value.has_value());
  EXPECT_EQ(alike.pairs[0].verdict, "not tested: fewer than 3 splits (2)");
}

// Differences 0.01 (1 + r) of splits r = 0 ... 3 on one task, p = 0.03 alone; on three tasks without a difference.
TEST(CompareRuns, IntervalsAtHolmsLevelsAgreeWithVerdicts) {
  RunTable table;
  table.methods = {"a", "b"};
  table.metrics = {"auroc"};
  for (const char* task : {"t", "u", "v", "w"}) {
    table.tasks.push_back(task);
    for (int r = 0; r < 4; ++r) {
      const openset::Run run{absl::StrCat(r), "0"};
      table.value["auroc"]["b"][task][run] = 0.8;
      table.value["auroc"]["a"][task][run] =
          *task == 't' ? 0.81 + 0.01 * r : 0.8 + 0.01 * (r % 2 == 0 ? r + 1 : -r - 1);
    }
  }
  const RunComparison comparison = CompareRuns(table, {}, {}).value();
  ASSERT_EQ(comparison.pairs.size(), 4);
  const ComparedRuns& row = comparison.pairs[0];
  EXPECT_GT(row.test.low, 0);  // of the row alone, it leaves out 0
  EXPECT_EQ(row.verdict, "no detectable difference");
  EXPECT_NEAR(row.adjusted->confidence, 1 - 0.05 / 4, 1e-12);
  EXPECT_LT(row.adjusted->low, 0);
  // The standard error is sqrt(0.0005 / 3 / 4), and SciPy's t.isf(0.0125 / 2, 3) is 5.391949.
  EXPECT_NEAR(row.adjusted->high - row.test.mean_difference, 5.391949 * 0.006454972, 1e-8);
  const std::string text = FormatRunComparison(comparison, TextFormat::kText);
  EXPECT_THAT(text,
              HasSubstr("(Holm):\n  the interval at the level of Holm's procedure, which excludes 0 if there is"));
  EXPECT_THAT(FormatRunComparison(comparison, TextFormat::kJson), HasSubstr("\"confidence_holm\": 0.9875"));

  // A single test has its own level, so there is nothing more to show.
  table.tasks = {"t"};
  const RunComparison alone = CompareRuns(table, {}, {}).value();
  EXPECT_EQ(alone.pairs[0].verdict, "a is better");
  EXPECT_NEAR(alone.pairs[0].adjusted->low, alone.pairs[0].test.low, 1e-12);
  EXPECT_THAT(FormatRunComparison(alone, TextFormat::kText), Not(HasSubstr("Holm")));
}

// Differences that are all the same have no variance, so no interval and no t test; the verdict says so.
TEST(CompareRuns, NoIntervalWithoutVariance) {
  RunTable table;
  table.methods = {"a", "b"};
  table.metrics = {"auroc"};
  table.tasks = {"t"};
  for (const char* split : {"0", "1", "2"}) {
    table.value["auroc"]["a"]["t"][{split, "0"}] = 0.75;
    table.value["auroc"]["b"]["t"][{split, "0"}] = 0.5;
  }
  const RunComparison comparison = CompareRuns(table, {}, {}).value();
  EXPECT_FALSE(comparison.pairs[0].adjusted.has_value());
  EXPECT_EQ(comparison.pairs[0].verdict, "not tested: same difference in 3 splits");
  EXPECT_EQ(comparison.pairs[0].test.wilcoxon_p_value, 0.25);  // 2 / 2^3
  const std::string json = FormatRunComparison(comparison, TextFormat::kJson);
  for (const char* name : {"low", "high", "p", "low_holm", "high_holm", "cohen_dz"}) {
    EXPECT_THAT(json, HasSubstr(absl::StrCat("\"", name, "\": null")));
  }
  EXPECT_THAT(json, HasSubstr("\"tested\": false"));
  // The same over three seeds of one split.
  for (auto& [method, tasks] : table.value["auroc"]) {
    const double value = tasks["t"].begin()->second;
    tasks["t"] = {{{"0", "0"}, value}, {{"0", "1"}, value}, {{"0", "2"}, value}};
  }
  EXPECT_EQ(CompareRuns(table, {}, {})->pairs[0].verdict, "not tested: same difference in 3 seeds");
  // Without a difference.
  table.value["auroc"]["a"] = table.value["auroc"]["b"];
  EXPECT_EQ(CompareRuns(table, {}, {})->pairs[0].verdict, "equal in every run");
}

// Comparisons with one method are fewer tests: if all p-values are p, Holm's first is 2 p instead of 3 p.
TEST(CompareRuns, AgainstABaseline) {
  RunTable table = Table(3, 1, "auroc");
  const RunComparison pairs = CompareRuns(table, {}, {}).value();
  const RunComparison against = CompareRuns(table, {}, {}, "m1").value();
  EXPECT_EQ(pairs.pairs.size(), 3);
  ASSERT_EQ(against.pairs.size(), 2);
  EXPECT_EQ(against.baseline, "m1");
  EXPECT_EQ(against.pairs[0].a, "m0");
  EXPECT_EQ(against.pairs[0].b, "m1");
  EXPECT_EQ(against.pairs[1].a, "m2");
  EXPECT_EQ(against.pairs[1].verdict, "m2 is better");
  const double smallest = std::min(*against.pairs[0].test.p_value, *against.pairs[1].test.p_value);
  EXPECT_NEAR(std::min(*against.pairs[0].adjusted_p_value, *against.pairs[1].adjusted_p_value), 2 * smallest, 1e-15);
  EXPECT_THAT(FormatRunComparison(against, TextFormat::kText), HasSubstr("each method against m1 on each task"));
  EXPECT_THAT(FormatRunComparison(pairs, TextFormat::kText), HasSubstr("all pairs of methods on each task"));
  EXPECT_THAT(FormatRunComparison(against, TextFormat::kJson), HasSubstr("\"baseline\": \"m1\""));
  EXPECT_THAT(std::string(CompareRuns(table, {}, {}, "m3").status().message()), HasSubstr("unknown baseline 'm3'"));
  // Rows of a sweep, by their complete name in tables or a part of it.
  for (std::string& method : table.methods) {
    const std::string name = absl::StrCat("m, lambda ", method.substr(1));
    table.value["auroc"][name] = table.value["auroc"][method];
    method = name;
  }
  for (const char* name : {"m, lambda 2", "lambda 2", "lambda=2", "m, lambda=2"}) {
    EXPECT_EQ(CompareRuns(table, {}, {}, name)->baseline, "m, lambda 2") << name;
  }
}

// A pair without variance or with two splits isn't a test, so the other one keeps its p-value.
TEST(CompareRuns, PairsWithoutATestDoNotCount) {
  RunTable table = Table(2, 2, "auroc");
  for (const auto& [method, value] : {std::pair{"m0", 0.5}, {"m1", 0.75}}) {
    for (auto& [run, old] : table.value["auroc"][method]["t1"]) old = value;
  }
  const RunComparison comparison = CompareRuns(table, {}, {}).value();
  ASSERT_EQ(comparison.pairs.size(), 2);
  EXPECT_EQ(*comparison.pairs[0].adjusted_p_value, *comparison.pairs[0].test.p_value);
  EXPECT_FALSE(comparison.pairs[1].adjusted_p_value.has_value());
  table = Table(2, 2, "auroc");
  for (const char* split : {"2", "3"}) table.value["auroc"]["m0"]["t1"].erase(openset::Run{split, "0"});
  const RunComparison fewer = CompareRuns(table, {}, {}).value();
  EXPECT_EQ(*fewer.pairs[0].adjusted_p_value, *fewer.pairs[0].test.p_value);
  EXPECT_FALSE(fewer.pairs[1].is_tested);
  EXPECT_FALSE(fewer.pairs[1].adjusted.has_value());
}

TEST(CompareRuns, NamesWhatIsLeftOut) {
  RunTable table = Table(3, 3, "auroc");
  table.value["auroc"]["m2"].erase("t1");
  table.value["auroc"]["m1"]["t0"] = {{{"0", "0"}, 1}};
  const absl::StatusOr<RunComparison> comparison = CompareRuns(table, {}, {});
  EXPECT_THAT(FormatRunComparison(*comparison, TextFormat::kText),
              HasSubstr("left out: auroc: task t1: not every method has results"));
  EXPECT_EQ(comparison->left_out[0],
            "auroc: m0 and m1 on t0, m1 and m2 on t0: two runs are needed, and they have one in common");
  EXPECT_EQ(comparison->left_out[1], "auroc: m0 and m2 on t1, m1 and m2 on t1: only one of the two has results");
}

// One run for each of 3 methods on 4 tasks: no pair can be tested, but the ranks over tasks can.
TEST(CompareRuns, OneLineForManyPairsAndMetrics) {
  RunTable table = Table(3, 4, "auroc");
  for (auto& [method, tasks] : table.value["auroc"]) {
    for (auto& [task, runs] : tasks) runs.erase(std::next(runs.begin()), runs.end());
  }
  table.metrics.push_back("ece");
  table.value["ece"] = table.value["auroc"];
  const RunComparison comparison = CompareRuns(table, {}, {}).value();
  EXPECT_EQ(comparison.methods.size(), 2);
  EXPECT_THAT(comparison.left_out,
              ElementsAre("auroc, ece: 12 pairs of methods and tasks (m0 and m1 on t0, m0 and m1 on t1, m0 and m1 on "
                          "t2, ...): two runs are needed, and they have one in common"));
  EXPECT_EQ(comparison.assumptions, "assumes: tasks are independent, levels of one task are one");
  table.tasks = {"t0"};
  EXPECT_THAT(std::string(CompareRuns(table, {}, {}).status().message()),
              HasSubstr("nothing can be compared: auroc, ece: m0 and m1 on t0, m0 and m2 on t0, m1 and m2 on t0: two"));
}

// A share of 80.5 is in percent; Youden's index may be negative, and nats have no largest value.
TEST(CompareRuns, RefusesSharesOutsideTheirRange) {
  RunTable table = Table(2, 1, "aurc");
  table.value["aurc"]["m1"]["t0"][openset::Run{"2", "0"}] = 62.5;
  EXPECT_EQ(std::string(CompareRuns(table, {}, {}).status().message()),
            "aurc is a share, so it lies in 0 .. 1, and 1 of 8 values don't: 62.5 for m1 on t0, split 2, seed 0; are "
            "these values x 1000, as tables show them? Divide the column by 1000");
  table = Table(2, 1, "auroc");
  for (auto& [run, value] : table.value["auroc"]["m0"]["t0"]) value = 80.5;
  EXPECT_THAT(std::string(CompareRuns(table, {}, {}).status().message()),
              HasSubstr("4 of 8 values don't: 80.5 for m0 on t0, split 0, seed 0; are these percent? Divide the column "
                        "by 100"));
  for (const auto& [metric, value] : {std::pair{"youden_macro", -0.5}, {"nll", 80.5}, {"auroc", 1 + 1e-12}}) {
    table = Table(2, 1, metric);
    table.value[metric]["m0"]["t0"][openset::Run{"0", "0"}] = value;
    EXPECT_TRUE(CompareRuns(table, {}, {}).ok()) << metric;
  }
}

TEST(CompareRuns, HintsAtWhatTheTableMayHaveWrong) {
  RunTable table = Table(2, 1, "auroc");
  EXPECT_THAT(CompareRuns(table, {}, {})->hints, IsEmpty());
  table.ignored = {"host", "epochs"};
  table.empty = {"line 9"};
  table.value["auroc"]["M0"] = table.value["auroc"]["m1"];
  table.methods[1] = "M0";
  EXPECT_THAT(CompareRuns(table, {}, {})->hints,
              ElementsAre("ignored, because they are neither metrics nor name a run: host, epochs",
                          "without a value of any metric: line 9",
                          "the methods 'm0' and 'M0' differ only in case; if they are one, give them one name"));
  EXPECT_EQ(CompareRuns(table, {"auroc"}, {})->hints.size(), 2);  // what was asked for is there
}

// FPR at 95 % TPR has a name as a metric of its own and one with its level.
TEST(CompareRuns, FindsAMetricByItsOtherName) {
  ASSERT_OK_AND_ASSIGN(const RunComparison comparison,
                       CompareRuns(Table(2, 3, "fpr_at_0.95tpr"), {"fpr_at_95tpr"}, {}));
  EXPECT_EQ(comparison.pairs.at(0).metric, "fpr_at_0.95tpr");
}

TEST(CompareRuns, Refuses) {
  EXPECT_THAT(std::string(CompareRuns(Table(1, 2, "auroc"), {}, {}).status().message()),
              HasSubstr("there is one method only"));
  EXPECT_THAT(std::string(CompareRuns(Table(2, 2, "mine"), {}, {}).status().message()),
              HasSubstr("unknown metric 'mine'"));
  EXPECT_THAT(std::string(CompareRuns(Table(2, 2, "auroc"), {"ece"}, {}).status().message()),
              HasSubstr("there are no results of ece, only of auroc"));
}

}  // namespace
}  // namespace openset

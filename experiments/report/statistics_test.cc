#include "experiments/report/statistics.h"

#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "eval/report/document.h"
#include "eval/report/run_comparison.h"
#include "experiments/report/format_report.h"
#include "experiments/report/report_tables.h"

namespace openset {
namespace {

ReportCell Cell(std::vector<double> values, std::vector<int> splits) {
  ReportCell cell;
  cell.values = std::move(values);
  cell.splits = std::move(splits);
  cell.seeds.resize(cell.values.size());
  Summarise(&cell);
  return cell;
}

// 1, 2, 3 have the mean 2 and the sum of squares 2; Student's t with 2 degrees of freedom at 95 % is 4.302653.
TEST(SpreadOf, OfThreeSplits) {
  const ReportCell cell = Cell({1, 2, 3}, {0, 1, 2});
  EXPECT_NEAR(*SpreadOf(cell, Spread::kPopulation), std::sqrt(2.0 / 3), 1e-12);
  EXPECT_NEAR(*SpreadOf(cell, Spread::kSample), 1, 1e-12);
  EXPECT_NEAR(*SpreadOf(cell, Spread::kInterval), 4.302653 / std::sqrt(3.0), 1e-6);
}

// Two splits with the means 1 and 3: t with 1 degree of freedom is 12.706205, whatever the number of seeds.
TEST(SpreadOf, IntervalsCountSplits) {
  EXPECT_NEAR(*SpreadOf(Cell({1, 1, 3, 3}, {0, 0, 1, 1}), Spread::kInterval), 12.706205, 1e-5);
}

TEST(SpreadOf, OfValuesByThemselves) {
  EXPECT_NEAR(*SpreadOf({1, 2, 3}, {0, 1, 2}, Spread::kPopulation), std::sqrt(2.0 / 3), 1e-12);
  EXPECT_NEAR(*SpreadOf({1, 1, 3, 3}, {0, 0, 1, 1}, Spread::kInterval), 12.706205, 1e-5);
  EXPECT_FALSE(SpreadOf({1}, {0}, Spread::kSample).has_value());
}

TEST(SpreadOf, IsAbsentForTooFewRuns) {
  EXPECT_FALSE(SpreadOf(Cell({1}, {0}), Spread::kSample).has_value());
  EXPECT_FALSE(SpreadOf(Cell({}, {}), Spread::kPopulation).has_value());
  EXPECT_FALSE(SpreadOf(Cell({2, 2}, {0, 1}), Spread::kInterval).has_value());
  EXPECT_EQ(*SpreadOf(Cell({2, 2}, {0, 1}), Spread::kSample), 0);
}

TEST(ParseSpread, KnowsThree) {
  for (const char* name : {"population", "sample", "interval"}) EXPECT_TRUE(ParseSpread(name).ok()) << name;
  EXPECT_THAT(std::string(ParseSpread("sampel").status().message()), HasSubstr("did you mean 'sample'?"));
}

// A value for each split, with one seed.
ReportCell Cell(const std::string& method, const std::string& metric, std::vector<double> values) {
  ReportCell cell;
  cell.method = method;
  cell.task = "task";
  cell.group = "pool";
  cell.metric = metric;
  cell.values = std::move(values);
  for (int i = 0; i < static_cast<int>(cell.values.size()); ++i) {
    cell.splits.push_back(i);
    cell.seeds.push_back(0);
    cell.intervals.emplace_back();
  }
  Summarise(&cell);
  return cell;
}

// Differences 1, 2, 3 have mean 2 and standard error 1 / sqrt(3): t = 2 sqrt(3) with 2 degrees of freedom, of which the
// two-sided p is 1 - t / sqrt(t^2 + 2) = 1 - sqrt(12 / 14).
const double kP = 1 - std::sqrt(12.0 / 14);

TEST(AddSignificance, IsAPairedTTestOverSplits) {
  Report report;
  report.cells = {Cell("a", "auroc", {1, 1, 1}), Cell("b", "auroc", {2, 3, 4})};
  AddSignificance("", &report);
  EXPECT_FALSE(report.cells[0].significance.has_value());
  ASSERT_TRUE(report.cells[1].significance.has_value());
  EXPECT_NEAR(*report.cells[1].significance->p_value, kP, 1e-12);
  EXPECT_FALSE(report.cells[1].significance->detectable);  // 0.074
  EXPECT_FALSE(report.cells[1].significance->of_seeds);
  EXPECT_EQ(report.cells[1].significance->replicates, 3);
  EXPECT_EQ(report.baseline, "a");
}

// Differences 1, 2 and 3, of variance 1. Without two blocks, they deviate by 1/2, 0 and -1/2: variances 1/4, 0 and 1/4,
// covariances 0, -1/4 and 0: images have 1/6 + 1/12.
TEST(AddSignificance, HasTheShareOfTestImages) {
  Report report;
  report.cells = {Cell("a", "auroc", {1, 1, 1}), Cell("b", "auroc", {2, 3, 4})};
  report.cells[0].without_blocks = {{1, 1}, {1, 1}, {1, 1}};
  report.cells[1].without_blocks = {{2.5, 1.5}, {3, 3}, {3.5, 4.5}};
  AddSignificance("a", &report);
  EXPECT_NEAR(*report.cells[1].significance->shares.images, 25, 1e-9);
  EXPECT_FALSE(report.cells[1].significance->shares.split.has_value());  // of one seed
  EXPECT_THAT(FormatReport(report, TextFormat::kJson), HasSubstr("\"image_share\":"));
  report.cells[0].without_blocks[1].clear();  // a record of an older version
  AddSignificance("a", &report);
  EXPECT_FALSE(report.cells[1].significance->shares.images.has_value());
}

// Holm's: the smaller of two is doubled, the other one is at least as large. Another metric is another family.
TEST(AddSignificance, AdjustsOverTheTestsOfAMetric) {
  Report report;
  report.cells = {Cell("a", "auroc", {1, 1, 1}), Cell("a", "accuracy", {1, 1, 1}), Cell("b", "auroc", {2, 3, 4}),
                  Cell("b", "accuracy", {2, 3, 4}), Cell("c", "auroc", {11, 11.001, 11.002})};
  AddSignificance("a", &report);
  EXPECT_NEAR(*report.cells[2].significance->p_value, kP, 1e-12);
  EXPECT_NEAR(*report.cells[3].significance->p_value, kP, 1e-12);
  EXPECT_LT(*report.cells[4].significance->p_value, 1e-6);
  EXPECT_TRUE(report.cells[4].significance->detectable);
  EXPECT_EQ(CellText(report.cells[4]).back(), '*');
  EXPECT_EQ(CellText(report.cells[2]).find('*'), std::string::npos);
}

// Splits 0 and 3 are one draw: its mean difference is (1 + 1) / 2, so there are the differences 1, 2 and 3 of above,
// not four. Report, its JSON and `openset compare` have the same p-value.
TEST(AddSignificance, EqualDrawsAreOneSplit) {
  Report report;
  report.cells = {Cell("a", "auroc", {0, 0, 0, 0}), Cell("b", "auroc", {0.01, 0.02, 0.03, 0.01})};
  for (ReportCell& cell : report.cells) cell.draws = {0, 1, 2, 0};
  AddSignificance("a", &report);
  EXPECT_NEAR(*report.cells[1].significance->p_value, kP, 1e-12);
  EXPECT_EQ(report.cells[1].significance->replicates, 3);
  const std::string path = JoinPath(::testing::TempDir(), "draws.json");
  ASSERT_TRUE(WriteFileAtomically(path, FormatReport(report, TextFormat::kJson)).ok());
  for (const absl::StatusOr<RunTable>& table : {TableOf(report, "pool"), ReadRunTable(path, "pool")}) {
    ASSERT_TRUE(table.ok()) << table.status();
    const RunComparison comparison = CompareRuns(*table, {}, {}, "a").value();
    EXPECT_NEAR(*comparison.pairs[0].test.p_value, kP, 1e-12);
    EXPECT_EQ(comparison.pairs[0].test.splits, 3);
    EXPECT_EQ(comparison.pairs[0].test.runs, 4);
  }
}

// Sets of unknown samples are families of their own, as in `openset compare --group`.
TEST(AddSignificance, AdjustsWithinAGroup) {
  Report report;
  report.cells = {Cell("a", "auroc", {1, 1, 1}), Cell("a", "auroc", {1, 1, 1}), Cell("b", "auroc", {2, 3, 4}),
                  Cell("b", "auroc", {2, 3, 4})};
  report.cells[1].group = report.cells[3].group = "near";
  AddSignificance("a", &report);
  EXPECT_NEAR(*report.cells[2].significance->p_value, kP, 1e-12);
  EXPECT_NEAR(*report.cells[3].significance->p_value, kP, 1e-12);
}

// A row of a sweep, by its name in tables or by its value.
TEST(AddSignificance, AgainstAValueOfASweep) {
  Report report;
  for (const char* value : {"0.1", "0.2", "0.4"}) {
    ReportCell& cell = report.cells.emplace_back(Cell("m", "auroc", {1, 2, 4}));
    for (double& v : cell.values) v *= report.cells.size();
    cell.axis.emplace_back().set_name("lambda");
    cell.axis.back().set_value(value);
    cell.axis.emplace_back().set_name("alpha");
    cell.axis.back().set_value("1");
  }
  for (const char* name :
       {"m, lambda 0.2, alpha 1", "m, lambda 0.2", "lambda 0.2", "lambda=0.2", "alpha 1, lambda=0.2"}) {
    EXPECT_EQ(BaselineRow(report, name), "m, lambda 0.2, alpha 1") << name;
  }
  EXPECT_EQ(BaselineRow(report, "m"), "m, lambda 0.1, alpha 1");
  EXPECT_EQ(BaselineRow(report, "lambda 0.3"), "");
  EXPECT_EQ(BaselineRow(report, "n, lambda 0.2"), "");
  AddSignificance("lambda 0.2", &report);
  EXPECT_TRUE(report.cells[0].significance.has_value());
  EXPECT_FALSE(report.cells[1].significance.has_value());
  EXPECT_TRUE(report.cells[2].significance.has_value());
  EXPECT_EQ(report.baseline, "m, lambda 0.2, alpha 1");
}

// Three seeds of one split in two splits are two replicates, not six.
TEST(AddSignificance, SeedsOfASplitAreNoReplicates) {
  Report report;
  report.cells = {Cell("a", "auroc", {0, 0, 0, 0, 0, 0}), Cell("b", "auroc", {1, 1.1, 0.9, 3, 3.1, 2.9})};
  for (ReportCell& cell : report.cells) {
    cell.splits = {0, 0, 0, 1, 1, 1};
    cell.seeds = {0, 1, 2, 0, 1, 2};
  }
  AddSignificance("a", &report);
  EXPECT_EQ(report.cells[1].significance->replicates, 2);
  EXPECT_FALSE(report.cells[1].significance->p_value.has_value());
}

// Two replicates leave one degree of freedom: they are not tested, however alike they are, and don't count for Holm's
// method. Three seeds of one split are tested.
TEST(AddSignificance, TwoReplicatesAreNotTested) {
  Report report;
  report.cells = {Cell("a", "auroc", {0, 0}), Cell("b", "auroc", {1, 1.001})};
  AddSignificance("a", &report);
  EXPECT_EQ(report.baseline, "a");
  EXPECT_FALSE(report.cells[1].significance->p_value.has_value());
  EXPECT_EQ(WhyNotTested(*report.cells[1].significance), "fewer than 3 splits, or seeds of one split");
  EXPECT_FALSE(report.cells[1].significance->detectable);
  EXPECT_EQ(report.cells[1].significance->replicates, 2);
  EXPECT_EQ(CellText(report.cells[1]).find('*'), std::string::npos);
  report.cells = {Cell("a", "auroc", {0, 0, 0}), Cell("b", "auroc", {1, 1.001, 0.999})};
  for (ReportCell& cell : report.cells) {
    cell.splits = {4, 4, 4};
    cell.seeds = {0, 1, 2};
  }
  AddSignificance("a", &report);
  EXPECT_TRUE(report.cells[1].significance->detectable);
  EXPECT_EQ(report.cells[1].significance->replicates, 3);
  EXPECT_TRUE(report.cells[1].significance->of_seeds);
  report.cells = {Cell("a", "auroc", {1, 1, 1}), Cell("b", "auroc", {2, 3, 4}), Cell("c", "auroc", {2, 3})};
  AddSignificance("a", &report);
  EXPECT_NEAR(*report.cells[1].significance->p_value, kP, 1e-12);
  EXPECT_EQ(WhyNotTested(*report.cells[1].significance), "");
  EXPECT_FALSE(report.cells[2].significance->p_value.has_value());
}

// Differences of 1 in every split have no spread.
TEST(AddSignificance, TheSameDifferenceInEveryRunIsNotTested) {
  Report report;
  report.cells = {Cell("a", "auroc", {1, 2, 4}), Cell("b", "auroc", {2, 3, 5}), Cell("c", "auroc", {1, 2, 4})};
  AddSignificance("a", &report);
  EXPECT_FALSE(report.cells[1].significance->p_value.has_value());
  EXPECT_EQ(WhyNotTested(*report.cells[1].significance), "the same difference in every run");
  EXPECT_EQ(*report.cells[2].significance->p_value, 1);
  EXPECT_EQ(report.baseline, "a");
}

TEST(AddSignificance, NoTestWithoutPairs) {
  Report report;
  report.cells = {Cell("a", "auroc", {1, 2}), Cell("b", "auroc", {2}), Cell("d", "nll", {2, 5})};
  AddSignificance("a", &report);
  for (const ReportCell& cell : report.cells) EXPECT_FALSE(cell.significance.has_value()) << cell.method;
  EXPECT_EQ(report.baseline, "");
}

// Three rows, of which c has about 0.2 more, on two levels of a task in two groups, and a metric with a study's own
// name. The report's table and its JSON file give `openset compare` the p-values of the stars, to the bit.
TEST(TableOf, ComparesAsTheStarsDo) {
  Report report;
  for (int i = 0; i < 24; ++i) {
    const double m = i / 100.0, c = i < 16 ? 0 : 0.2;
    ReportCell& cell = report.cells.emplace_back(Cell(
        i < 8    ? "a"
        : i < 16 ? "b"
                 : "c",
        i % 2 == 0 ? "auroc" : "early", {0.5 + m + c, 0.6 + 2 * m * m + c, 0.4 + c, 0.7 - m / 3 + c, 1.0 / 3 + c}));
    cell.axis.emplace_back().set_name("lambda");
    cell.axis.back().set_value("0.1");
    cell.group = i / 2 % 2 == 0 ? "pool" : "near";
    cell.unknown_classes = i / 4 % 2;
  }
  for (ReportCell& cell : report.cells) {
    if (cell.metric == "early") cell.shared_label = "early (threshold of the method)";
  }
  AddSignificance("b", &report);
  const std::string path = JoinPath(::testing::TempDir(), "report.json");
  ASSERT_TRUE(WriteFileAtomically(path, FormatReport(report, TextFormat::kJson)).ok());
  for (const char* group : {"pool", "near"}) {
    for (const absl::StatusOr<RunTable>& table : {TableOf(report, group), ReadRunTable(path, group)}) {
      ASSERT_TRUE(table.ok()) << table.status();
      EXPECT_TRUE(table->ignored.empty());
      EXPECT_EQ(table->display.at("early").label, "early (threshold of the method)");
      EXPECT_EQ(table->baseline, "b, lambda 0.1");
      std::map<std::string, const ComparedRuns*> rows;
      const RunComparison comparison = CompareRuns(*table, {}, {}, table->baseline).value();
      for (const ComparedRuns& row : comparison.pairs) {
        rows[absl::StrCat(row.metric, " of ", row.a, " on ", row.task)] = &row;
      }
      EXPECT_EQ(rows.size(), 8);  // two metrics and rows against the baseline, on two levels
      for (const ReportCell& cell : report.cells) {
        if (cell.group != group || cell.method == "b") continue;
        const ComparedRuns& row =
            *rows.at(absl::StrCat(cell.metric, " of ", RowName(cell), " on task, ", cell.unknown_classes,
                                  cell.unknown_classes == 1 ? " unknown class" : " unknown classes"));
        EXPECT_EQ(cell.significance->p_value, row.adjusted_p_value);
        EXPECT_EQ(cell.significance->detectable, cell.method == "c");
        // The same level for all rows, also after that of c, which Holm's method rejects first.
        ASSERT_EQ(cell.significance->detects.has_value(), row.power.has_value());
        if (row.power.has_value()) {
          EXPECT_EQ(*cell.significance->detects, row.power->detectable);
        }
        EXPECT_EQ(row.verdict == "c, lambda 0.1 is better", cell.method == "c");
      }
    }
  }
  EXPECT_THAT(std::string(TableOf(report, "far").status().message()), HasSubstr("unknown group 'far'"));
}

}  // namespace
}  // namespace openset

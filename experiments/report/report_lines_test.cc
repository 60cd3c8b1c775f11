#include "experiments/report/report_lines.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A method with `n` of `of` runs, one for each split.
ReportCell Cell(int n, int of) {
  ReportCell cell;
  for (int i = 0; i < n; ++i) {
    cell.values.push_back(0.5);
    cell.splits.push_back(i);
    cell.seeds.push_back(0);
  }
  Summarise(&cell);
  cell.missing = of - n;
  return cell;
}

TEST(HeadLines, AreOfDataAndOfTheCommandLine) {
  Report report;
  EXPECT_THAT(HeadLines(report), IsEmpty());
  report.data_lines = {"The images are not here."};
  report.overrides = {"--set=training.epochs=2", "--seeds=0..4"};
  EXPECT_THAT(HeadLines(report), ElementsAre("The images are not here.",
                                             "Changed on the command line: --set=training.epochs=2 --seeds=0..4"));
}

TEST(FooterLines, SayWhyTrialsHaveNoRecord) {
  Report report;
  report.cells = {Cell(3, 4)};
  report.trials = 24;
  report.missing = 5;
  report.failed = 2;
  report.failed_lines = {"vim, splits 0 and 1, seed 1"};
  report.unevaluated = 1;
  report.waiting = 3;
  EXPECT_THAT(FooterLines(report),
              ElementsAre("Mean ± population standard deviation over splits and seeds (n=4).",
                          "2 of 24 trials failed: vim, splits 0 and 1, seed 1.",
                          "1 of 24 trials lacks only the evaluation by exactly these metrics: `openset run` makes it "
                          "without training.",
                          "2 of 24 trials have no record yet.", "Tuned trials that wait for their search: 3."));
}

TEST(FooterLines, OneRunHasNoSpread) {
  Report report;
  report.cells = {Cell(1, 1)};
  EXPECT_THAT(FooterLines(report), ElementsAre("One run: no spread."));
  report.cells = {Cell(2, 2), Cell(5, 5)};
  EXPECT_THAT(FooterLines(report),
              ElementsAre("Mean ± population standard deviation over splits and seeds (n=2 to 5)."));
}

TEST(StarText, NamesWhatTestsAreOver) {
  Report report;
  report.baseline = "mcp";
  report.cells = {Cell(2, 2), Cell(2, 2)};
  report.cells[0].method = "b";
  report.cells[0].significance = Significance{{}, false, 2};
  EXPECT_EQ(StarText(report),
            "No stars: not tested against mcp: fewer than 3 splits, or seeds of one split (b); here are 2 splits. Take "
            "5.");
  report.cells[1].significance = Significance{0.01, true, 5};
  EXPECT_THAT(StarText(report), HasSubstr("* differs from mcp: two-sided t test of differences paired by split and "
                                          "seed, over 5 splits (seeds of a split are averaged first), Holm's"));
  EXPECT_THAT(StarText(report), EndsWith("as in `openset compare`. Not tested, so without a star: fewer than 3 splits, "
                                         "or seeds of one split (b)."));
  report.cells[0].display.label = "AUROC";
  report.cells[0].significance = Significance{{}, false, 5, false, /*is_constant=*/true};
  EXPECT_THAT(StarText(report), EndsWith("without a star: the same difference in every run (b by AUROC)."));
  report.cells[0].significance = Significance{0.01, true, 4, /*of_seeds=*/true};
  EXPECT_THAT(StarText(report), HasSubstr("over 5 splits, or 4 seeds of one split (seeds"));
}

TEST(MarkText, NamesRowsIfMetricsAreRows) {
  Report report;
  EXPECT_THAT(MarkText(report), HasSubstr("Bold: the best mean of its column; underlined: the second best;"));
  report.cells = {Cell(1, 1)};
  report.cells[0].group = "near";
  EXPECT_THAT(MarkText(report), HasSubstr("the best mean of its column, for the same task and unknown samples; under"));
  report.rows = {"metric"};
  EXPECT_THAT(MarkText(report), HasSubstr("Bold: the best mean of its row, for the same"));
}

}  // namespace
}  // namespace openset

#include "eval/report/run_comparison_report.h"

#include <limits>

#include "absl/strings/str_split.h"
#include "core/testing/status_matchers.h"
#include "core/text/wrapped_text.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

TEST(CriticalDifferenceDiagram, NamesRanksAndBars) {
  ASSERT_OK_AND_ASSIGN(const FriedmanTest test, CompareMethods({{3, 2, 1}, {3, 1, 2}, {3, 2, 1}}, true));
  const std::string chart = CriticalDifferenceDiagram("a & b", {"good", "<middle>", "bad"}, test).dump();
  for (const char* part : {"a & b", "good (1.00)", "<middle> (2.33)", "bad (2.67)", "critical difference 1.91"}) {
    EXPECT_THAT(chart, HasSubstr(part));
  }
}

Display Auroc() {
  MetricSpec metric;
  metric.mutable_auroc();
  return DisplayOf(metric);
}

// One pair on one task, and a second task whose differences have no variance.
RunComparison Comparison() {
  RunComparison comparison;
  comparison.notes = {"results.csv"};
  comparison.assumptions = "assumes: much";
  ComparedRuns row{"auroc", "svhn", "a", "b", Auroc()};
  row.test.runs = 6;
  row.test.splits = 3;
  row.test.mean_difference = 0.25;
  row.test.cohen_dz = 1.5;
  row.test.rank_biserial = 1;
  row.test.low = 0.125;
  row.test.high = 0.375;
  row.test.p_value = 0.015625;
  row.test.wilcoxon_p_value = 0.25;
  row.adjusted_p_value = 0.03125;
  row.adjusted = AdjustedInterval{0.975, 0.0625, 0.4375};
  row.adjusted_wilcoxon = 0.5;
  row.power = ComparedRuns::Power{0.03125, 12};
  row.verdict = "a is better";
  row.is_tested = true;
  ComparedRuns same{"auroc", "mnist", "a", "b", Auroc()};
  same.test.runs = same.test.splits = same.test.replicates = 4;
  same.test.differences = Differences::kSame;
  same.test.mean_difference = 0.5;
  same.test.cohen_dz = std::numeric_limits<double>::infinity();
  same.test.rank_biserial = 1;
  same.unpaired = 2;
  same.verdict = "not tested: same difference in 4 splits";
  comparison.pairs = {row, same};
  comparison.left_out = {"aurc: nothing"};
  return comparison;
}

TEST(FormatRunComparison, CsvHasFullPrecisionAndEmptyUndefinedCells) {
  EXPECT_EQ(FormatRunComparison(Comparison(), TextFormat::kCsv),
            "metric,task,a,b,runs,splits,mean_difference,cohen_dz,rank_biserial,low,high,p,p_holm,wilcoxon_p,"
            "wilcoxon_p_holm,verdict,unit,label,low_holm,high_holm,confidence_holm,tested,unpaired,detects,"
            "replicates_for_one\n"
            "auroc,svhn,a,b,6,3,0.25,1.5,1,0.125,0.375,0.015625,0.03125,0.25,0.5,a is better,share,AUROC,0.0625,"
            "0.4375,0.975,true,0,0.03125,12\n"
            "auroc,mnist,a,b,4,4,0.5,,1,,,,,1,1,not tested: same difference in 4 splits,share,AUROC,,,,false,2,,"
            "\n");
}

TEST(FormatRunComparison, JsonHasNullForUndefinedAndInfinite) {
  const auto json = nlohmann::json::parse(FormatRunComparison(Comparison(), TextFormat::kJson));
  EXPECT_EQ(json.at("confidence"), 0.95);
  EXPECT_EQ(json.at("assumptions"), "assumes: much");
  const auto &row = json.at("pairs").at(0), &same = json.at("pairs").at(1);
  EXPECT_EQ(row.at("p_holm"), 0.03125);
  EXPECT_EQ(row.at("low_holm"), 0.0625);
  EXPECT_EQ(row.at("tested"), true);
  EXPECT_EQ(same.at("tested"), false);
  EXPECT_EQ(same.at("unpaired"), 2);
  for (const char* name : {"cohen_dz", "low", "high", "p", "p_holm", "low_holm", "high_holm", "confidence_holm"}) {
    EXPECT_TRUE(same.at(name).is_null()) << name;
  }
  EXPECT_TRUE(json.at("all_methods").empty());
  EXPECT_EQ(json.at("left_out").at(0), "aurc: nothing");
  EXPECT_TRUE(json.at("hints").empty());
}

TEST(FormatRunComparison, TablesHaveEffectsThenPValuesAndHolmsColumns) {
  RunComparison comparison = Comparison();
  const std::string table = FormatRunComparison(comparison, TextFormat::kMarkdown);
  EXPECT_THAT(table, AllOf(HasSubstr("results.csv"), HasSubstr("assumes: much"), HasSubstr(" low (Holm) "),
                           HasSubstr(" a - b "), HasSubstr("left out: aurc: nothing\n")));
  EXPECT_LT(table.find(" mean diff. "), table.find(" p (Holm) "));
  EXPECT_LT(table.find(" d_z "), table.find(" p (Holm) "));
  EXPECT_NE(table.find(" p (Holm) "), std::string::npos);
  EXPECT_LT(table.find(" verdict "), table.find(" mean diff. "));
  EXPECT_THAT(table, AllOf(HasSubstr(" Wilcoxon p (Holm) "), HasSubstr("p (Holm): of the t test, adjusted by Holm")));
  EXPECT_THAT(table, HasSubstr("12.50"));
  EXPECT_THAT(table, HasSubstr("not tested: differences that are all the same have no spread"));
  comparison.pairs[0].is_tested = false;
  EXPECT_THAT(FormatRunComparison(comparison, TextFormat::kMarkdown), Not(HasSubstr("12.50")));
  // At 60 columns no line is longer.
  for (absl::string_view line : absl::StrSplit(FormatRunComparison(comparison, TextFormat::kText, 60), '\n')) {
    EXPECT_LE(TextWidth(line), 60) << line;
  }
  // At 120 columns the table is in one piece; columns that CSV has are left out for it.
  RunComparison long_names = comparison;
  for (ComparedRuns& row : long_names.pairs) row.a = std::string(60, 'a'), row.b = std::string(20, 'b');
  const std::string piece = FormatRunComparison(long_names, TextFormat::kText, 120);
  EXPECT_THAT(piece, AllOf(HasSubstr("left out for the width: d_z"), Not(HasSubstr("\n\nsvhn"))));
  EXPECT_THAT(table, AllOf(HasSubstr("| task "), HasSubstr("| mnist "), Not(HasSubstr("task: "))));
  comparison.pairs.pop_back();
  const std::string one = FormatRunComparison(comparison, TextFormat::kMarkdown);
  EXPECT_THAT(one, AllOf(Not(HasSubstr("Holm")), Not(HasSubstr("not tested"))));
  EXPECT_THAT(one, AllOf(HasSubstr("task: svhn"), Not(HasSubstr("| task "))));  // the only one has no column
}

TEST(FormatRunComparison, SentencesSayWhatWasFoundAndWhatCouldNotBe) {
  RunComparison comparison = Comparison();
  comparison.pairs[0].test.replicates = 3;
  comparison.pairs[0].test.differences = Differences::kVary;
  EXPECT_EQ(FormatRunComparison(comparison, TextFormat::kSentence),
            "On 3 splits of svhn, a had 25.00 points more AUROC than b (95 % interval 12.50 to 37.50; p = 0.0312).\n"
            "On 4 splits of mnist (2 runs without a partner left out), a had 50.00 points more AUROC than b (not "
            "tested: same difference in 4 splits).\n");
  comparison.group = "far";
  EXPECT_THAT(FormatRunComparison(comparison, TextFormat::kSentence),
              HasSubstr("On 3 splits of svhn (unknown samples: far), a had 25.00 points more AUROC than b ("));
  comparison.group = "pool";
  EXPECT_THAT(FormatRunComparison(comparison, TextFormat::kSentence),
              HasSubstr("On 3 splits of svhn (all unknown samples), a had "));
  comparison.group = "";
  ComparedRuns& row = comparison.pairs[0];
  // b - a, and its interval.
  row.test.mean_difference = -0.25;
  row.test.low = -0.375;
  row.test.high = -0.125;
  row.verdict = "b is better";
  EXPECT_THAT(FormatRunComparison(comparison, TextFormat::kSentence),
              HasSubstr("a had 25.00 points less AUROC than b (95 % interval 12.50 to 37.50; p = 0.0312)."));
  row.verdict = "no detectable difference";
  row.test.high = 0.125;
  comparison.pairs.push_back(row);
  comparison.pairs.back().test.splits = 1;
  comparison.pairs.back().power->replicates_for_one = 0;
  EXPECT_EQ(FormatRunComparison(comparison, TextFormat::kSentence),
            "On 3 splits of svhn, no difference in AUROC between a and b was detected (a minus b: -25.00 points; 95 "
            "% interval -37.50 to 12.50 of this comparison alone; p = 0.0312 after Holm over 2 comparisons). With 3 "
            "splits, differences below about 3.12 points can't be detected; 9 more splits would be needed for 1 "
            "point.\n"
            "On 4 splits of mnist (2 runs without a partner left out), a had 50.00 points more AUROC than b (not "
            "tested: same difference in 4 splits).\n"
            "Over 3 seeds of one split of svhn, no difference in AUROC between a and b was detected (a minus b: "
            "-25.00 points; 95 % interval -37.50 to 12.50 of this comparison alone; p = 0.0312 after Holm over 2 "
            "comparisons). With 3 seeds of one split, differences below about 3.12 points can't be detected; for 1 "
            "point, 10,000 seeds would not be enough.\n");
  // Below tables, with a summary of what can't be detected.
  EXPECT_THAT(FormatRunComparison(comparison, TextFormat::kMarkdown),
              AllOf(HasSubstr("* AUROC: with 3 seeds of one split, 3 splits, differences below about 3.12 points can't "
                              "be detected; 1 point takes 12 to more than 10,000 splits or seeds\n"),
                    HasSubstr("* On 3 splits of svhn, no difference")));
}

}  // namespace
}  // namespace openset

#include "experiments/report/html_report.h"

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/method.pb.h"

namespace openset {
namespace {

TEST(HtmlReport, HoldsTheNumbersPlotsAndProvenance) {
  const TrialSpec trial = Parsed<TrialSpec>("task: 't' method { name: 'm' } metric { auroc {} }");
  const TrialRecord record = Parsed<TrialRecord>(
      "metric { name: 'auroc' value: 0.7512345678901234 group { kind: POOL } } "
      "epoch { epoch: 0 loss: 2 } epoch { epoch: 1 loss: 1 } "
      "trial_id: 'id' split_sha256: 'f00d' counts { known: 6 unknown: 4 } details { curve { kind: ROC "
      "x: [0, 1] y: [0, 1] } mistake { kind: WRONG_CLASS class_id: 1 predicted_label: 0 } } "
      "provenance { stage { stage: TRAIN key: 'k' commit: 'abc123' dirty: true "
      "started_at_seconds: 60 ended_at_seconds: 7260 wall_seconds: 7200 cpu_seconds: 90 } }");
  const std::vector<TrialResult> results = {{&trial, &record}};
  ReportContext context;
  context.question = "Is 1 < 2?";
  context.failures = {"m on t: out of <memory>"};
  const std::string html = HtmlReport(MakeReport("study", results), results, context).value();
  EXPECT_THAT(html, HasSubstr("<h1>study</h1>"));
  EXPECT_THAT(html, HasSubstr("<nav id=\"contents\""));
  EXPECT_THAT(html, HasSubstr("Is 1 &lt; 2?"));
  EXPECT_THAT(html, HasSubstr("\"mean\":0.7512345678901234"));
  EXPECT_THAT(html, HasSubstr("<figure data-chart=\"loss\"></figure>"));
  EXPECT_THAT(html, HasSubstr("<figure data-chart=\"roc\"></figure>"));
  EXPECT_THAT(html, HasSubstr("\"mistakes\":[[3,\"class 1\""));
  EXPECT_THAT(html, HasSubstr("abc123, with changes"));
  EXPECT_THAT(html, HasSubstr("from 1970-01-01 00:01 to 1970-01-01 02:01 UTC"));
  EXPECT_THAT(html, HasSubstr("90 s CPU, 2.0 h elapsed, in 1 stage<"));
  EXPECT_THAT(html, HasSubstr("t, split 0: f00d"));
  EXPECT_THAT(html, HasSubstr("6 known samples of 0 classes, 4 unknown ones of 0"));
  EXPECT_THAT(html, HasSubstr("out of &lt;memory&gt;"));
}

// Two minutes side by side, one of them overlapping, then a pause: 90 + 60 seconds elapsed.
TEST(HtmlReport, ElapsedTimeCountsStagesSideBySideOnce) {
  const TrialSpec trial = Parsed<TrialSpec>("task: 't' method { name: 'm' } metric { auroc {} }");
  TrialRecord record = Parsed<TrialRecord>("metric { name: 'auroc' value: 0.75 group { kind: POOL } } trial_id: 'id'");
  for (const int start : {1000, 1030, 5000}) {
    StageProvenance* stage = record.mutable_provenance()->add_stage();
    stage->set_key(std::to_string(start));
    stage->set_started_at_seconds(start);
    stage->set_ended_at_seconds(start + 60);
    stage->set_wall_seconds(60);
    stage->set_cpu_seconds(120);
  }
  const std::vector<TrialResult> results = {{&trial, &record}};
  EXPECT_THAT(HtmlReport(MakeReport("study", results), results, {}).value(),
              HasSubstr("6.0 min CPU, 2.5 min elapsed, in 3 stages<"));
}

TEST(HtmlReport, ExplainsStarsAndDrawsTheImprovement) {
  TrialSpec trials[2];
  TrialRecord records[2];
  for (int m = 0; m < 2; ++m) {
    trials[m] = Parsed<TrialSpec>("task: 't' metric { auroc {} }");
    trials[m].mutable_method()->set_name(m == 0 ? "first" : "second");
    records[m] = Parsed<TrialRecord>("metric { name: 'auroc' group { kind: POOL } }");
    records[m].mutable_metric(0)->set_value(0.5 + 0.25 * m);
  }
  const std::vector<TrialResult> results = {{&trials[0], &records[0]}, {&trials[1], &records[1]}};
  Report report = MakeReport("study", results);
  EXPECT_THAT(HtmlReport(report, results, {}).value(), Not(HasSubstr("* differs from")));
  report.baseline = "first";
  report.cells[1].significance = Significance{0.01, true, 3};
  const std::string html = HtmlReport(report, results, {}).value();
  EXPECT_THAT(html, HasSubstr("<p class=\"state\">* differs from first: two-sided t test"));
  EXPECT_THAT(html, HasSubstr("\"detectable\":true"));
  EXPECT_THAT(html, HasSubstr("<figure data-chart=\"improvement_auroc\"></figure>"));
}

// Differences of 0.24, 0.25 and 0.26: a mean of 25 points, and t(2) at 0.975 = 4.303 standard errors of 0.577 points on
// both sides.
TEST(HtmlReport, SaysEachComparisonInASentence) {
  std::vector<TrialSpec> trials;
  std::vector<TrialRecord> records;
  for (int split = 0; split < 3; ++split) {
    for (int m = 0; m < 2; ++m) {
      trials.push_back(Parsed<TrialSpec>("task: 't' metric { auroc {} }"));
      trials.back().set_split(split);
      trials.back().mutable_method()->set_name(m == 0 ? "first" : "second");
      records.push_back(Parsed<TrialRecord>("metric { name: 'auroc' group { kind: POOL } }"));
      records.back().mutable_metric(0)->set_value(0.5 + m * (0.24 + 0.01 * split));
    }
  }
  const auto page = [&](size_t count) {
    std::vector<TrialResult> results;
    for (size_t i = 0; i < count; ++i) results.push_back({&trials[i], &records[i]});
    Report report = MakeReport("study", results);
    AddSignificance("first", &report);
    return HtmlReport(report, results, {}).value();
  };
  EXPECT_THAT(page(6), HasSubstr("</h2>\n<ul>\n<li>On 3 splits of t, 0 unknown classes, second had 25.00 points more "
                                 "AUROC than first (95 % interval 22.52 to 27.48; p = 0.0005).</li>"));
  EXPECT_THAT(page(4),
              AllOf(HasSubstr("<p>No difference was detected.</p>\n<details><summary>Without a detected "
                              "difference: 1 of 1 comparisons</summary>\n<ul>\n<li>On 2 splits of t"),
                    HasSubstr("24.50 points more AUROC than first (not tested: fewer than 3 splits (2)).</li>")));
}

TEST(HtmlReport, MarksChangesByTheCommandLine) {
  Report report;
  ReportContext context;
  context.spec = "epochs: 5";
  std::string html = HtmlReport(report, {}, context).value();
  EXPECT_THAT(html, HasSubstr("<h2>Spec</h2>\n<pre>epochs: 5</pre>"));
  EXPECT_THAT(html, Not(HasSubstr("command line")));
  report.overrides = {"--set=training.epochs=2"};
  context.changed_spec = {{"name: \"<s>\"", false}, {"epochs: 2", true}};
  html = HtmlReport(report, {}, context).value();
  EXPECT_THAT(html, HasSubstr("Changed on the command line: <code>--set=training.epochs=2</code>"));
  EXPECT_THAT(html, HasSubstr("<pre>name: &quot;&lt;s&gt;&quot;\n<mark>epochs: 2</mark>\n</pre>"));
  EXPECT_THAT(html, Not(HasSubstr("epochs: 5")));
}

TEST(HtmlReport, SaysAColumnOnceAndEachCellsLabel) {
  Report report;
  report.cells.resize(2);
  for (int m = 0; m < 2; ++m) {
    report.cells[m].metric = "outer";
    report.cells[m].display.label = m == 0 ? "outer (threshold -0.5)" : "outer (threshold 0)";
    report.cells[m].shared_label = "outer (threshold of the method)";
  }
  const std::string html = HtmlReport(report, {}, {}).value();
  EXPECT_THAT(html, HasSubstr("\"label\":\"outer (threshold -0.5)\""));
  EXPECT_THAT(html, HasSubstr("\"label\":\"outer (threshold 0)\""));
  EXPECT_THAT(html, HasSubstr("\"metrics\":{\"outer\":{\"column\":\"outer (threshold of the method)\""));
}

TEST(HtmlReport, HasTheSentencesAndTablesOfCompare) {
  std::vector<TrialSpec> trials(6);
  std::vector<TrialRecord> records(6);
  std::vector<TrialResult> results;
  for (int t = 0; t < 6; ++t) {
    trials[t] = Parsed<TrialSpec>("task: 't' metric { auroc {} }");
    trials[t].mutable_method()->set_name(t < 3 ? "first" : "second");
    trials[t].set_split(t % 3);
    records[t] = Parsed<TrialRecord>("metric { name: 'auroc' group { kind: POOL } }");
    // 0.5, 0.6, 0.7; the second has 10, 11 and 12 points more.
    records[t].mutable_metric(0)->set_value(0.5 + 0.1 * (t % 3) + (t < 3 ? 0 : 0.1 + 0.01 * (t % 3)));
    results.push_back({&trials[t], &records[t]});
  }
  Report report = MakeReport("study", results);
  AddSignificance("first", &report);
  report.baseline = "first";
  const std::string html = HtmlReport(report, results, {}).value();
  EXPECT_THAT(
      html,
      HasSubstr(
          "<li>On 3 splits of t, 0 unknown classes, second had 11.00 points more AUROC than first (95 % interval"));
  EXPECT_THAT(html, HasSubstr("second is better"));
  report.cells.resize(2001, report.cells[0]);
  EXPECT_THAT(HtmlReport(report, results, {}).value(),
              HasSubstr("Left out, because there are more than 2,000 numbers: <code>openset compare study</code>"));
}

}  // namespace
}  // namespace openset

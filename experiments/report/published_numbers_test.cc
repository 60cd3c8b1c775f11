#include "experiments/report/published_numbers.h"

#include <string>

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/task.pb.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/report/format_report.h"
#include "experiments/spec/method.pb.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

// Two methods; the second has no AUROC. The first has values for splits 0 and 1.
PublishedTable Published() {
  return ParsedWithDefaults<PublishedTable>(R"(
      name: 'paper' paper: 'Them 2022' table: 'Table 1' convention: 'percent' doubt: 'all of it'
      column { label: 'Acc' task: 'birds' metric { accuracy {} } }
      column { label: 'AUC' task: 'birds' metric { auroc { tied: NOTHING } } doubt: 'ties' }
      row { label: 'Ours' method: ['a', 'a+long'] epochs: 100 runs: 5
            cell { value: 60 std: 2 of_split { split: 0 value: 50 } of_split { split: 1 value: 75 } } cell { value: 90 } }
      row { label: 'Base' method: 'b+long' doubt: 'another code' cell { value: 12.5 } cell {} })");
}

TrialSpec Trial(const std::string& method, int split, int epochs, int limit = 0) {
  TrialSpec trial = Parsed<TrialSpec>(
      "task: 'birds' metric { accuracy {} } metric { auroc { tied: HALF } } "
      "data { test_known { class_id: [0, 1] } test_unknown { selection { class_id: 3 } } }");
  trial.mutable_method()->set_name(method);
  trial.mutable_method()->mutable_training()->set_epochs(epochs);
  trial.mutable_data()->mutable_train()->set_limit_per_class(limit);
  trial.set_split(split);
  return trial;
}

TrialRecord Record(double accuracy, double auroc) {
  TrialRecord record;
  for (const auto& [name, value] : {std::pair{"accuracy", accuracy}, {"auroc", auroc}}) {
    MetricRecord* metric = record.add_metric();
    metric->set_name(name);
    metric->set_value(value);
    metric->mutable_group()->set_kind(MetricGroup::POOL);
  }
  return record;
}

ReportSpec Spec(const std::string& text = "") { return Parsed<ReportSpec>("published { name: 'paper' " + text + "}"); }

Report Make(const std::vector<TrialSpec>& trials, const ReportSpec& spec = Spec()) {
  const TrialRecord record = Record(0.5, 0.75);
  std::vector<TrialResult> results;
  for (const TrialSpec& trial : trials) results.push_back({&trial, &record});
  Report report = MakeReport("study", results);
  AddPublished(spec, {Published()}, results, &report);
  return report;
}

// The published number is 60 with a deviation of 2, in percent. Ours is one value with the same 100 epochs, on a split
// without a published value.
TEST(AddPublished, IsShownNextToOurs) {
  const Report report = Make({Trial("a+long", 2, 100)});
  ASSERT_EQ(report.cells[0].published.size(), 1);
  const PublishedNumber& number = report.cells[0].published[0];
  EXPECT_EQ(number.source, "Them 2022, Table 1");
  EXPECT_EQ(number.place, "Ours, Acc");
  EXPECT_DOUBLE_EQ(number.value, 0.6);
  EXPECT_DOUBLE_EQ(*number.std, 0.02);
  EXPECT_THAT(number.splits, IsEmpty());
  EXPECT_THAT(number.reasons, ElementsAre("fewer runs: 1 value of 1 split for 5"));
  EXPECT_THAT(number.doubts, IsEmpty());
  EXPECT_THAT(report.published_lines,
              ElementsAre("Them 2022, Table 1: percent", "Them 2022, Table 1: doubtful: all of it"));
}

TEST(AddPublished, SplitsThatAreKnownAreComparedOneByOne) {
  const Report both = Make({Trial("a", 0, 100), Trial("a", 1, 100)});
  EXPECT_DOUBLE_EQ(both.cells[0].published[0].value, (0.5 + 0.75) / 2);
  EXPECT_THAT(both.cells[0].published[0].splits, ElementsAre(0, 1));
  EXPECT_THAT(both.cells[0].published[0].reasons, IsEmpty());
  EXPECT_FALSE(both.cells[0].published[0].std.has_value());
  const Report one = Make({Trial("a", 1, 100)});
  EXPECT_DOUBLE_EQ(one.cells[0].published[0].value, 0.75);
}

TEST(AddPublished, NamesPossibleReasonsForDifferences) {
  const Report report = Make({Trial("a+short", 2, 5, 200)});
  EXPECT_THAT(report.cells[0].published[0].reasons,
              ElementsAre("another recipe: a+short for a", "fewer epochs: 5 for 100",
                          "fewer training images: 200 a class", "fewer runs: 1 value of 1 split for 5"));
  EXPECT_THAT(report.cells[1].published[0].reasons,
              ElementsAre("another recipe: a+short for a", "another convention: AUROC for AUROC (ties count 0)",
                          "fewer epochs: 5 for 100", "fewer training images: 200 a class",
                          "fewer runs: 1 value of 1 split for 5"));
  EXPECT_THAT(report.cells[1].published[0].doubts, ElementsAre("ties"));
}

TEST(AddPublished, AMissingNumberIsMissing) {
  const Report report = Make({Trial("b+long", 0, 5), Trial("c", 0, 5)});
  ASSERT_EQ(report.cells.size(), 4);
  ASSERT_EQ(report.cells[0].published.size(), 1);
  EXPECT_THAT(report.cells[0].published[0].doubts, ElementsAre("another code"));
  for (int c : {1, 2, 3}) EXPECT_THAT(report.cells[c].published, IsEmpty()) << c;
  const nlohmann::json json = nlohmann::json::parse(FormatReport(report, TextFormat::kJson));
  EXPECT_FALSE(json["cells"][1].contains("published"));
}

// Another name of the task, of a method and of a metric here.
TEST(AddPublished, TakesTheSpecsNames) {
  TrialSpec trial = Trial("mine", 2, 100);
  trial.set_task("small_birds");
  const Report report = Make({trial}, Spec("task { ours: 'small_birds' published: 'birds' } "
                                           "method { ours: 'mine' published: 'a' } "
                                           "metric { ours: 'auroc' published: 'accuracy' }"));
  EXPECT_THAT(report.cells[0].published[0].reasons,
              ElementsAre("other data: small_birds for birds", "another method: mine for a",
                          "fewer runs: 1 value of 1 split for 5"));
  EXPECT_DOUBLE_EQ(report.cells[1].published[0].value, 0.6);
  EXPECT_THAT(report.cells[1].published[0].reasons,
              ElementsAre("other data: small_birds for birds", "another method: mine for a",
                          "another convention: AUROC for accuracy", "fewer runs: 1 value of 1 split for 5"));
  EXPECT_THAT(Make({trial}).cells[0].published, IsEmpty());
}

TEST(AddPublished, IsInEveryFormat) {
  const Report report = Make({Trial("a", 2, 5)});
  const std::string text = FormatReport(report, TextFormat::kText);
  EXPECT_THAT(text, HasSubstr("birds: compared with published numbers\n"
                              "\n"
                              "method  metric          ours     published  difference      notes\n"
                              "-----------------------------------------------------------------\n"
                              "a       accuracy, % ↑  50.00  60.00 ± 2.00      -10.00      1 2 3\n"
                              "a       AUROC, % ↑     75.00         90.00      -15.00  1 2 3 4 5\n"));
  EXPECT_THAT(text, HasSubstr("[1] Them 2022, Table 1\n[2] fewer epochs: 5 for 100\n"));
  EXPECT_THAT(text, HasSubstr("[5] doubtful: ties\nThem 2022, Table 1: percent\n"));
  EXPECT_THAT(FormatReport(report, TextFormat::kMarkdown), HasSubstr("| 60.00 ± 2.00 |     -10.00 |"));
  EXPECT_THAT(FormatReport(report, TextFormat::kLatex), HasSubstr("60.00 $\\pm$ 2.00 & -10.00"));
  EXPECT_THAT(FormatReport(report, TextFormat::kCsv), HasSubstr("\"Them 2022, Table 1: Ours, Acc\""));
  const nlohmann::json json = nlohmann::json::parse(FormatReport(report, TextFormat::kJson));
  const nlohmann::json& published = json["cells"][0]["published"];
  EXPECT_DOUBLE_EQ(published["value"].get<double>(), 0.6);
  EXPECT_DOUBLE_EQ(published["difference"].get<double>(), 0.5 - 0.6);
  EXPECT_THAT(published["note"].get<std::string>(),
              HasSubstr("Them 2022, Table 1: Ours, Acc; fewer epochs: 5 for 100"));
  EXPECT_THAT(FormatReport(Make({Trial("c", 2, 5)}), TextFormat::kText), Not(HasSubstr("published")));
}

}  // namespace
}  // namespace openset

#include "experiments/report/report.h"

#include <cmath>

#include "core/proto/text_proto.h"
#include "experiments/report/format_report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TrialSpec Trial(const std::string& method, int split, int seed, const std::string& more = "") {
  TrialSpec trial;
  EXPECT_TRUE(ParseTextProto("task: 'task' openness: 0.125 metric { accuracy {} } metric { auroc {} } "
                             "data { test_known { class_id: [0, 1, 2] } test_unknown { selection { class_id: 3 } } }" +
                                 more,
                             "trial", &trial)
                  .ok());
  trial.mutable_method()->set_name(method);
  trial.set_split(split);
  trial.set_seed(seed);
  return trial;
}

TrialRecord Record(double accuracy, double auroc) {
  TrialRecord record;
  MetricRecord* metric = record.add_metric();
  metric->set_name("accuracy");
  metric->set_value(accuracy);
  metric = record.add_metric();
  metric->set_name("auroc");
  if (std::isnan(auroc)) {
    metric->set_absent_reason("no unknown samples");
  } else {
    metric->set_value(auroc);
  }
  record.mutable_counts()->set_known(6000);
  record.mutable_counts()->set_unknown(2000);
  return record;
}

const TrialSpec kTrials[] = {Trial("a", 0, 5), Trial("a", 1, 5), Trial("b", 0, 5), Trial("b", 1, 5)};
const TrialRecord kRecords[] = {Record(0.5, 0.75), Record(0.75, 0.25), Record(0.875, NAN)};

Report Example() {
  return MakeReport(
      "study",
      {{&kTrials[0], &kRecords[0]}, {&kTrials[1], &kRecords[1]}, {&kTrials[2], &kRecords[2]}, {&kTrials[3], nullptr}});
}

TEST(MakeReport, SummarisesSplitsAndSeeds) {
  const Report report = Example();
  ASSERT_EQ(report.cells.size(), 4);
  const ReportCell& accuracy = report.cells[0];
  EXPECT_EQ(accuracy.method, "a");
  EXPECT_EQ(accuracy.task, "task");
  EXPECT_EQ(accuracy.metric, "accuracy");
  EXPECT_EQ(accuracy.n, 2);
  EXPECT_EQ(accuracy.mean, (0.5 + 0.75) / 2);
  EXPECT_EQ(accuracy.std, (0.75 - 0.5) / 2);  // population
  EXPECT_THAT(accuracy.values, ElementsAre(0.5, 0.75));
  EXPECT_THAT(accuracy.splits, ElementsAre(0, 1));
  EXPECT_THAT(accuracy.seeds, ElementsAre(5, 5));
  EXPECT_EQ(report.trials, 4);
  EXPECT_EQ(report.missing, 1);
  EXPECT_THAT(report.task_lines, ElementsAre("task: 3 known and 1 unknown classes, openness 0.125, known:unknown test "
                                             "samples 6,000:2,000"));
}

TEST(MakeReport, AbsentIsNeitherZeroNorMissing) {
  const Report report = Example();
  const ReportCell& auroc = report.cells[3];
  EXPECT_EQ(auroc.method, "b");
  EXPECT_EQ(auroc.metric, "auroc");
  EXPECT_EQ(auroc.n, 0);
  EXPECT_EQ(auroc.missing, 1);
  EXPECT_THAT(auroc.absent_reasons, ElementsAre("no unknown samples"));
}

TEST(MakeReport, AxisValuesAndOpennessMakeRowsAndTables) {
  TrialSpec trials[] = {Trial("a", 0, 0, "axis { name: 'lambda' value: '0.1' }"),
                        Trial("a", 0, 0, "axis { name: 'lambda' value: '0.2' }"),
                        Trial("a", 0, 0, "axis { name: 'lambda' value: '0.2' }")};
  trials[2].mutable_data()->mutable_test_unknown(0)->mutable_selection()->add_class_id(4);
  const Report report =
      MakeReport("study", {{&trials[0], &kRecords[0]}, {&trials[1], &kRecords[1]}, {&trials[2], &kRecords[0]}});
  ASSERT_EQ(report.cells.size(), 6);
  const std::string text = FormatReport(report, ReportFormat::kText);
  EXPECT_THAT(text, HasSubstr("a, lambda 0.1"));
  EXPECT_THAT(text, HasSubstr("task, 1 unknown classes, openness 0.125"));
  EXPECT_THAT(text, HasSubstr("task, 2 unknown classes, openness 0.125"));
}

TEST(FormatReport, Text) {
  EXPECT_EQ(FormatReport(Example(), ReportFormat::kText),
            "task\n"
            "\n"
            "method  accuracy, % ↑     AUROC, % ↑\n"
            "------------------------------------\n"
            "a       62.50 ± 12.50  50.00 ± 25.00\n"
            "b         87.50 (n=1)              -\n"
            "\n"
            "task: 3 known and 1 unknown classes, openness 0.125, known:unknown test samples 6,000:2,000\n"
            "Mean ± population standard deviation over splits and seeds (n=2).\n"
            "1 of 4 trials have no record yet.\n");
}

TEST(FormatReport, Markdown) {
  const std::string text = FormatReport(Example(), ReportFormat::kMarkdown);
  EXPECT_THAT(text, HasSubstr("# study\n\n## task\n\n| method |"));
  EXPECT_THAT(text, HasSubstr("| a      | 62.50 ± 12.50 | 50.00 ± 25.00 |\n"));
}

TEST(FormatReport, CsvHoldsFullPrecision) {
  const std::string text = FormatReport(Example(), ReportFormat::kCsv);
  EXPECT_THAT(
      text,
      HasSubstr("method,axis,task,unknown_classes,openness,metric,mean,std,n,missing,values,unit,better,label\n"));
  EXPECT_THAT(text, HasSubstr("a,,task,1,0.125,accuracy,0.625,0.125,2,0,0.5 0.75,share,higher,accuracy\n"));
  EXPECT_THAT(text, HasSubstr("b,,task,1,0.125,auroc,,,0,1,,share,higher,AUROC\n"));
}

TEST(FormatReport, Json) {
  const nlohmann::json json = nlohmann::json::parse(FormatReport(Example(), ReportFormat::kJson));
  EXPECT_EQ(json["experiment"], "study");
  EXPECT_EQ(json["std"], "population");
  const nlohmann::json& cell = json["cells"][0];
  EXPECT_EQ(cell["method"], "a");
  EXPECT_EQ(cell["task"], "task");
  EXPECT_EQ(cell["metric"], "accuracy");
  EXPECT_EQ(cell["label"], "accuracy");
  EXPECT_EQ(cell["unit"], "share");
  EXPECT_EQ(cell["higher_is_better"], true);
  EXPECT_EQ(cell["mean"], 0.625);
  EXPECT_EQ(cell["std"], 0.125);
  EXPECT_EQ(cell["n"], 2);
  EXPECT_EQ(cell["values"], (std::vector<double>{0.5, 0.75}));
  EXPECT_TRUE(json["cells"][3]["mean"].is_null());
  EXPECT_EQ(json["cells"][3]["absent"][0], "no unknown samples");
}

TEST(FormatReport, SaysWhatSearchesChose) {
  const TrialSpec tuned = Trial("a (tuned)", 1, 5, R"(
      search {
        criterion { aurc {} }
        candidate { axis { name: 'clip' value: '1' } value: 0.25 }
        candidate { axis { name: 'clip' value: '2' } value: 0.125 }
        chosen: 1
      })");
  const TrialRecord record = Record(0.5, 0.75);
  Report report = MakeReport("study", {{&tuned, &record}});
  report.waiting = 3;
  const char* line = "a (tuned) on task, split 1, seed 5: clip 2 (best validation aurc of 2: 0.125)";
  EXPECT_THAT(report.search_lines, ElementsAre(line));
  for (const ReportFormat format : {ReportFormat::kText, ReportFormat::kMarkdown, ReportFormat::kJson}) {
    EXPECT_THAT(FormatReport(report, format), HasSubstr(line));
  }
  EXPECT_THAT(FormatReport(report, ReportFormat::kText), HasSubstr("Tuned trials that wait for their search: 3."));
}

TEST(FormatReport, TheSameRecordsGiveTheSameText) {
  EXPECT_EQ(FormatReport(Example(), ReportFormat::kJson), FormatReport(Example(), ReportFormat::kJson));
}

TEST(ParseReportFormat, NamesTheKnownOnes) {
  EXPECT_EQ(*ParseReportFormat("csv"), ReportFormat::kCsv);
  EXPECT_EQ(ParseReportFormat("jsn").status().message(),
            "unknown format 'jsn'; did you mean 'json'? (known: text, markdown, csv, json)");
}

}  // namespace
}  // namespace openset

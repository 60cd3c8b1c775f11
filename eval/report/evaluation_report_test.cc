#include "eval/report/evaluation_report.h"

#include "core/testing/parsed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

using ::testing::HasSubstr;

Display Of(const std::string& text) { return DisplayOf(Parsed<MetricSpec>(text)); }

EvaluationReport Report() {
  EvaluationReport report;
  report.notes = {"scores.npz"};
  report.num_known = 30;
  report.num_unknown = 20;
  report.num_classes = 3;
  report.interval = "95 % interval";
  report.metrics = {{"auroc", Of("auroc {}"), 2.0 / 3, "", 0.5, 0.75, ""},
                    {"aurc", Of("aurc {}"), 0.1, "more than 1 % of the replicates are undefined", {}, {}, ""},
                    {"nll", Of("nll {}"), {}, "no logits", {}, {}, ""}};
  return report;
}

TEST(FormatEvaluation, Json) {
  EXPECT_EQ(nlohmann::json::parse(FormatEvaluation(Report(), TextFormat::kJson)), nlohmann::json::parse(R"({
    "n_known": 30, "n_unknown": 20,
    "metrics": {"auroc": {"value": 0.6666666666666666, "low": 0.5, "high": 0.75, "unit": "share",
                          "higher_is_better": true, "label": "AUROC"},
                "aurc": {"value": 0.1, "unit": "share", "higher_is_better": false, "label": "AURC"}},
    "absent": {"nll": "no logits"}})"));
}

TEST(FormatEvaluation, NamesThatAreNoUtf8AreReplacedInJson) {
  EvaluationReport report = Report();
  report.groups = {{"\xff", 1, {{"auroc", 0.5, ""}, {"aurc", 0.5, ""}, {"nll", {}, "no logits"}}}};
  EXPECT_THAT(FormatEvaluation(report, TextFormat::kJson), HasSubstr("\xEF\xBF\xBD"));
}

TEST(FormatEvaluation, Csv) {
  EvaluationReport report = Report();
  report.groups = {{"near", 5, {{"auroc", 0.5, ""}, {"aurc", 0.25, ""}, {"nll", {}, "no logits"}}}};
  EXPECT_EQ(FormatEvaluation(report, TextFormat::kCsv),
            "set,metric,value,low,high,absent,unit,better,label\n"
            "all,auroc,0.66666666666666663,0.5,0.75,,share,higher,AUROC\n"
            "all,aurc,0.10000000000000001,,,,share,lower,AURC\n"
            "all,nll,,,,no logits,nats,lower,NLL\n"
            "near,auroc,0.5,,,,share,higher,AUROC\n"
            "near,aurc,0.25,,,,share,lower,AURC\n"
            "near,nll,,,,no logits,nats,lower,NLL\n");
}

TEST(FormatEvaluation, Text) {
  EXPECT_EQ(FormatEvaluation(Report(), TextFormat::kText),
            "scores.npz\n"
            "30 known samples of 3 classes, 20 unknown samples (known : unknown = 1.5 : 1)\n"
            "\n"
            "low, high: 95 % interval\n"
            "\n"
            "metric   value    low   high   unit  better  label\n"
            "--------------------------------------------------\n"
            "auroc    66.67  50.00  75.00      %  higher  AUROC\n"
            "aurc    100.00      -      -  x1000   lower   AURC\n"
            "\n"
            "no interval: aurc (more than 1 % of the replicates are undefined)\n"
            "absent: nll (no logits)\n");
}

// Metrics of one reason share a line, in the formats that have lines.
TEST(FormatEvaluation, AbsentMetricsByReason) {
  EvaluationReport report = Report();
  report.metrics.push_back({"accuracy", Of("accuracy {}"), {}, "no predictions", {}, {}, ""});
  report.metrics.push_back({"brier", Of("brier {}"), {}, "no logits", {}, {}, ""});
  EXPECT_THAT(FormatEvaluation(report, TextFormat::kText),
              HasSubstr("\nabsent: nll, brier (no logits)\nabsent: accuracy (no predictions)\n"));
  EXPECT_THAT(FormatEvaluation(report, TextFormat::kMarkdown), HasSubstr("* absent: nll, brier (no logits)\n"));
  EXPECT_THAT(FormatEvaluation(report, TextFormat::kLatex), HasSubstr("% absent: accuracy (no predictions)\n"));
  EXPECT_THAT(FormatEvaluation(report, TextFormat::kCsv), HasSubstr("all,accuracy,,,,no predictions,share,"));
}

TEST(FormatEvaluation, SourcesOfPooledAurcAddUp) {
  EvaluationReport report = Report();
  report.sources = {{"known", {kUnknownLabel, 30, 3, 0.01}}, {"unknown", {0, 20, 20, 0.2}}};
  EXPECT_THAT(FormatEvaluation(report, TextFormat::kText),
              HasSubstr("pool          50      23               210.00\n"));
}

}  // namespace
}  // namespace openset

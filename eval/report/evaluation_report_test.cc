#include "eval/report/evaluation_report.h"

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

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
            "all,auroc,0.6666666666666666,0.5,0.75,,share,higher,AUROC\n"
            "all,aurc,0.1,,,,share,lower,AURC\n"
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
  report.metrics.push_back({"brier", Of("brier {}"), {}, "no logits", {}, {}, "of what is absent"});
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

// `a` has logits, `b` only scores.
std::vector<MethodReport> Methods() {
  MethodReport a, b;
  a.name = "a";
  a.report.notes = {"a.npz", "unknown score: energy"};
  a.report.num_known = 30;
  a.report.num_unknown = 20;
  a.report.num_classes = 3;
  a.report.metrics = {{"auroc", Of("auroc {}"), 0.5, "", {}, {}, "a remark"},
                      {"accuracy", Of("accuracy {}"), 0.75, "", {}, {}, ""},
                      {"nll", Of("nll {}"), {}, "no known samples", {}, {}, ""},
                      {"brier", Of("brier {}"), {}, "no logits", {}, {}, "of what is absent"}};
  b = a;
  b.name = "b_2";
  b.report.notes = {"b.npz", "unknown score: the file's"};
  b.report.metrics[0].value = 2.0 / 3;
  b.report.metrics[1].value.reset();
  b.report.metrics[1].absent_reason = "no predictions";
  b.report.metrics[2].absent_reason = "no logits";
  return {a, b};
}

TEST(FormatMethods, Text) {
  EXPECT_EQ(FormatMethods(Methods(), TextFormat::kText),
            "a: a.npz, unknown score: energy\n"
            "b_2: b.npz, unknown score: the file's\n"
            "30 known samples of 3 classes, 20 unknown samples (known : unknown = 1.5 : 1)\n"
            "\n"
            "metric        a    b_2  unit  better     label\n"
            "----------------------------------------------\n"
            "auroc     50.00  66.67     %  higher     AUROC\n"
            "accuracy  75.00      -     %  higher  accuracy\n"
            "\n"
            "auroc: a remark\n"
            "absent of b_2: accuracy (no predictions)\n"
            "absent of a: nll (no known samples)\n"
            "absent of b_2: nll (no logits)\n"
            "absent: brier (no logits)\n");
}

TEST(FormatMethods, MarkdownAndLatex) {
  EXPECT_THAT(FormatMethods(Methods(), TextFormat::kMarkdown), HasSubstr("| auroc    | 50.00 | 66.67 |"));
  const std::string latex = FormatMethods(Methods(), TextFormat::kLatex);
  EXPECT_THAT(latex, HasSubstr("metric & a & b\\_2 & unit & better & label \\\\\n"));
  EXPECT_THAT(latex, HasSubstr("auroc & 50.00 & 66.67 & \\% & higher & AUROC \\\\\n"));
  EXPECT_THAT(latex, HasSubstr("% absent of b_2: accuracy (no predictions)\n"));
}

TEST(FormatMethods, RowPerMethod) {
  EXPECT_THAT(FormatMethods(Methods(), TextFormat::kText, MethodsLayout::kRowPerMethod),
              HasSubstr("\n\n"
                        "method  AUROC, %  accuracy, %\n"
                        "-----------------------------\n"
                        "a          50.00        75.00\n"
                        "b_2        66.67            -\n"
                        "\n"));
}

TEST(FormatMethods, CsvAndJsonAreThoseOfEachMethod) {
  const std::string csv = FormatMethods(Methods(), TextFormat::kCsv);
  EXPECT_THAT(csv, HasSubstr("method,set,metric,value,low,high,absent,unit,better,label\na,all,auroc,0.5,,,,share,"));
  EXPECT_THAT(csv, HasSubstr("\nb_2,all,auroc,0.6666666666666666,,,,share,higher,AUROC\n"));
  EXPECT_THAT(csv, HasSubstr("\nb_2,all,accuracy,,,,no predictions,share,higher,accuracy\n"));
  const auto json = nlohmann::json::parse(FormatMethods(Methods(), TextFormat::kJson));
  ASSERT_EQ(json["methods"].size(), 2);
  for (const MethodReport& method : Methods()) {
    EXPECT_EQ(json["methods"][method.name], nlohmann::json::parse(FormatEvaluation(method.report, TextFormat::kJson)));
  }
}

TEST(FormatMethods, IntervalsAndSamplesThatDiffer) {
  std::vector<MethodReport> methods = Methods();
  methods[0].report.interval = methods[1].report.interval = "95 % interval";
  methods[0].report.metrics[0].low = 0.25;
  methods[0].report.metrics[0].high = 0.625;
  methods[1].report.metrics[0].absent_reason = "all alike";
  methods[1].report.num_unknown = 10;
  const std::string text = FormatMethods(methods, TextFormat::kText);
  EXPECT_THAT(text, HasSubstr("a: a.npz, unknown score: energy; 30 known samples of 3 classes, 20 unknown samples ("));
  EXPECT_THAT(text, HasSubstr("; 30 known samples of 3 classes, 10 unknown samples (known : unknown = 3 : 1)\n"));
  EXPECT_THAT(text, HasSubstr("in brackets: 95 % interval\n"));
  EXPECT_THAT(text, HasSubstr("auroc     50.00 (25.00, 62.50)  66.67"));
  EXPECT_THAT(text, HasSubstr("no interval of b_2: auroc (all alike)\n"));
}

// A set that a method lacks is "-".
TEST(FormatMethods, SetsAndSources) {
  std::vector<MethodReport> methods = Methods();
  EXPECT_THAT(FormatMethods(methods, TextFormat::kText), Not(HasSubstr("pooled_aurc")));
  const auto values = [](double auroc) {
    return std::vector<MetricValue>{{"auroc", auroc, ""}, {"accuracy", {}, "-"}, {"nll", {}, "-"}, {"brier", {}, "-"}};
  };
  methods[0].report.groups = {{"svhn", 12, values(0.25), {}}, {"pool", 20, values(0.5), {}}};
  methods[1].report.groups = {{"pool", 20, values(0.75), {}}};
  methods[0].report.sources = {{"known", {kUnknownLabel, 30, 3, 0.01}}, {"svhn", {0, 20, 20, 0.2}}};
  methods[1].report.sources = {{"known", {kUnknownLabel, 30, 3, 0.03}}};
  const std::string text = FormatMethods(methods, TextFormat::kText);
  EXPECT_THAT(text, HasSubstr("unknown samples: svhn\n"
                              "\n"
                              "metric               a  b_2  unit\n"
                              "---------------------------------\n"
                              "unknown samples     12    -\n"
                              "auroc            25.00    -     %\n"));
  EXPECT_THAT(text, HasSubstr("auroc            50.00  75.00     %\n"));
  EXPECT_THAT(text, HasSubstr("components of pooled_aurc (x1000)\n"
                              "\n"
                              "source       a    b_2\n"
                              "---------------------\n"
                              "known    10.00  30.00\n"
                              "svhn    200.00      -\n"));
}

}  // namespace
}  // namespace openset

#include "eval/report/methods_report.h"

#include <vector>

#include "core/testing/parsed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Display Of(const std::string& text) { return DisplayOf(Parsed<MetricSpec>(text)); }

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
                      {"brier", Of("brier {}"), {}, "no logits", {}, {}, ""}};
  b = a;
  b.name = "b_2";
  b.report.notes = {"b.npz", "unknown score: that of the file"};
  b.report.metrics[0].value = 2.0 / 3;
  b.report.metrics[1].value.reset();
  b.report.metrics[1].absent_reason = "no predictions";
  b.report.metrics[2].absent_reason = "no logits";
  return {a, b};
}

TEST(FormatMethods, Text) {
  EXPECT_EQ(FormatMethods(Methods(), TextFormat::kText),
            "a: a.npz, unknown score: energy\n"
            "b_2: b.npz, unknown score: that of the file\n"
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
  EXPECT_THAT(csv, HasSubstr("\nb_2,all,auroc,0.66666666666666663,,,,share,higher,AUROC\n"));
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

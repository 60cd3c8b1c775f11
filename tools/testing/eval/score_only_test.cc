// Files of scores without predictions, and tables as pandas writes them, through the program.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/eval/eval_fixture.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// DataFrame.to_csv() of labels with missing values (pandas 3.1.1). Of 24 pairs of a known and an unknown sample 17 are
// in order and 3 tied: 18.5 / 24. scikit-learn 1.9.1 (roc_auc_score, average_precision_score, roc_curve): AUROC
// 0.7708333333333334, AUPR 0.75 (unknown positive) and 0.8214285714285714 (known positive), FPR 0.5 at a TPR of 95 %.
constexpr char kTable[] =
    ",Label,Unknown_Score\n"
    "0,0.0,0.125\n1,1.0,0.25\n2,2.0,0.5\n3,1.0,0.5\n4,0.0,0.75\n5,2.0,-0.001\n"
    "6,,0.5\n7,,0.25\n8,,0.875\n9,,2.0\n";

TEST_F(EvalTest, ScoresAlone) {
  program_.Write("scoreonly.csv", kTable);
  const auto json = nlohmann::json::parse(Out({"eval", "scoreonly.csv", "--format=json"}));
  EXPECT_EQ(json["n_known"], 6);
  EXPECT_EQ(json["n_unknown"], 4);
  const auto& metrics = json["metrics"];
  EXPECT_EQ(metrics["auroc"]["value"], 18.5 / 24);
  EXPECT_NEAR(metrics["aupr_unknown"]["value"].get<double>(), 0.75, 1e-15);
  EXPECT_NEAR(metrics["aupr_known"]["value"].get<double>(), 0.8214285714285714, 1e-15);
  EXPECT_EQ(metrics["fpr_at_95tpr"]["value"], 0.5);
  EXPECT_EQ(metrics["known_unknown_ratio"]["value"], 1.5);
  EXPECT_EQ(metrics.size(), 10);
  EXPECT_EQ(json["absent"].size(), 32);
  for (const char* name : {"accuracy", "openauc", "oscr", "aurc", "open_set_f_macro", "inner"}) {
    EXPECT_EQ(json["absent"][name], "no predictions") << name;
  }
  EXPECT_EQ(json["absent"]["ece"], "no logits");
  EXPECT_FALSE(json.contains("pooled_aurc_parts"));
}

// In each format.
TEST_F(EvalTest, MetricsOfPredictionsAreAbsentWithAReason) {
  WriteArrays("scoreonly.npz", {{"label", Wholes({0, 1, -1, -1})}, {"unknown_score", Reals({0.1, 0.4, 0.2, 0.9})}});
  const auto with = [&](const std::string& format) {
    return Out({"eval", "scoreonly.npz", "--metrics=auroc,accuracy,oscr", "--format=" + format});
  };
  EXPECT_EQ(with("text"),
            "scoreonly.npz\n"
            "unknown score: that of the file\n"
            "2 known samples of 2 classes, 2 unknown samples (known : unknown = 1 : 1)\n"
            "\n"
            "metric  value  unit  better  label\n"
            "----------------------------------\n"
            "auroc   75.00     %  higher  AUROC\n"
            "\n"
            "absent: accuracy, oscr (no predictions)\n");
  EXPECT_THAT(with("markdown"), HasSubstr("* absent: accuracy, oscr (no predictions)\n"));
  EXPECT_THAT(with("latex"), HasSubstr("% absent: accuracy, oscr (no predictions)\n"));
  EXPECT_THAT(with("csv"), HasSubstr("all,accuracy,,,,no predictions,share,higher,accuracy\n"));
  EXPECT_EQ(nlohmann::json::parse(with("json"))["absent"],
            nlohmann::json::parse(R"({"accuracy": "no predictions", "oscr": "no predictions"})"));
  EXPECT_THAT(Error({"eval", "scoreonly.npz", "--classes=classes.csv"}), HasSubstr("--classes: accuracy needs pred"));
}

TEST_F(EvalTest, ScoresAloneHaveIntervalsAndCurves) {
  program_.Write("scoreonly.csv", kTable);
  for (const char* method : {"bca", "delong"}) {
    const auto json = nlohmann::json::parse(
        Out({"eval", "scoreonly.csv", "--metrics=auroc,openauc", "--ci", absl::StrCat("--ci_method=", method),
             "--replicates=200", "--curves=curves", "--format=json"}));
    EXPECT_LT(json["metrics"]["auroc"]["low"], 18.5 / 24) << method;
    EXPECT_EQ(json["absent"]["openauc"], "no predictions") << method;
  }
  EXPECT_THAT(program_.Read("curves/roc.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(program_.Read("curves/score_densities.csv"), HasSubstr("low,high,known,unknown\n"));
  for (const char* name : {"oscr", "risk_coverage", "risk_coverage_pool", "thresholds", "reliability"}) {
    EXPECT_EQ(program_.Read(absl::StrCat("curves/", name, ".csv")), "") << name;
  }
}

// The other commands read the same files.
TEST_F(EvalTest, ScoresAloneAreComparedAndGetThresholds) {
  program_.Write("a.csv", kTable);
  program_.Write("b.tsv", "label\tunknown_score\n0\t1\n1\t2\n2\t3\n1\t4\n0\t5\n2\t6\n\t7\nunknown\t8\n-1\t9\n\t10\n");
  const auto compared = nlohmann::json::parse(
      Out({"compare", "a.csv", "b.tsv", "--metrics=auroc,accuracy", "--replicates=200", "--format=json"}));
  for (const auto& row : compared["comparisons"]) {
    if (row["metric"] == "auroc") {
      EXPECT_NEAR(row["difference"].get<double>(), 18.5 / 24 - 1, 1e-15);
    } else {
      EXPECT_THAT(row["absent"].get<std::string>(), HasSubstr("no predictions"));
    }
  }
  // Five of the six known samples are accepted at 0.5: -0.001, 0.125, 0.25, 0.5, 0.5.
  const auto threshold = nlohmann::json::parse(Out({"threshold", "a.csv", "--target=0.8", "--format=json"}));
  EXPECT_EQ(threshold["threshold"], 0.5);
  EXPECT_EQ(threshold["validation"]["known_accepted"], 5.0 / 6);
  EXPECT_EQ(threshold["validation"]["unknown_rejected"], 0.5);
  EXPECT_FALSE(threshold["validation"].contains("risk"));
  EXPECT_FALSE(threshold["validation"].contains("open_set_f_macro"));
  EXPECT_THAT(Out({"threshold", "a.csv"}), HasSubstr("no predictions: metrics that need them are absent\n"));
  EXPECT_THAT(program_.Run({"threshold", "a.csv", "--rule=risk"}).err, HasSubstr("the rule needs predictions"));
  EXPECT_THAT(Error({"threshold", "a.csv", "--confusion=c.csv"}), HasSubstr("--confusion: needs predictions"));
}

TEST_F(EvalTest, HigherIsKnown) {
  WriteArrays("known.npz", {{"label", Wholes({0, 1, -1, -1})}, {"unknown_score", Reals({0.9, 0.6, 0.8, 0.1})}});
  const auto command = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"eval", "known.npz", "--metrics=auroc", "--format=csv"});
    return more;
  };
  EXPECT_THAT(Out(command({})), HasSubstr("all,auroc,0.25,"));
  EXPECT_THAT(Out(command({"--higher_is_known"})), HasSubstr("all,auroc,0.75,"));
  EXPECT_THAT(Out({"eval", "known.npz", "--metrics=auroc", "--higher_is_known"}),
              HasSubstr("unknown score: minus that of the file\n"));
  EXPECT_THAT(Error(command({"--higher_is_known", "--score=energy"})), HasSubstr("--higher_is_known: applies to"));
  WriteLogits("logits.npz", 2);
  EXPECT_THAT(Error({"eval", "logits.npz", "--higher_is_known"}), HasSubstr("has no array 'unknown_score'"));
}

// With class names, three of five known samples are right (dog, cat and cat), and the table by class has the names.
TEST_F(EvalTest, NamesOfClasses) {
  program_.Write(
      "names.csv",
      "label;prediction;unknown_score\ndog;dog;1\ncat;cat;2\ncat;dog;3\ncat;cat;4\ndog;\"ox;2\";5\n;cat;6\n");
  const auto json = nlohmann::json::parse(
      Out({"eval", "names.csv", "--metrics=accuracy,auroc", "--classes=classes.csv", "--format=json"}));
  EXPECT_EQ(json["metrics"]["accuracy"]["value"], 3.0 / 5);
  EXPECT_EQ(json["metrics"]["auroc"]["value"], 1.0);
  EXPECT_THAT(
      program_.Read("classes.csv"),
      AllOf(HasSubstr("class,samples,accuracy\ncat,3,0.66666666666666663\ndog,2,0.5\n"), HasSubstr("ox;2,0,\n")));
  Out({"threshold", "names.csv", "--confusion=confusion.csv"});
  EXPECT_THAT(program_.Read("confusion.csv"), HasSubstr("class,cat,dog,ox;2,rejected\n"));
  program_.Write("many.csv", "label;prediction;unknown_score\n5000;0;1\n0;0;2\n");
  Out({"eval", "many.csv", "--metrics=accuracy", "--classes=many_classes.csv"});
  EXPECT_THAT(program_.Read("many_classes.csv"), HasSubstr("\n5000,1,0\n"));
  EXPECT_THAT(Error({"threshold", "many.csv", "--confusion=confusion.csv"}),
              HasSubstr("--confusion: the table of 5001 classes is too large; it takes up to 5000"));
}

TEST_F(EvalTest, ErrorsListTheColumns) {
  program_.Write("scores.csv", ",y,msp\n0,1,0.5\n");
  EXPECT_EQ(Error({"eval", "scores.csv"}),
            "openset: scores.csv: has no column 'label' (it has (no name), y, msp); is it 'y'? rename that to "
            "'label'\n");
  program_.Write("scores.csv", "label\tmsp\n1\t0.5\n");
  EXPECT_EQ(Error({"eval", "scores.csv"}),
            "openset: scores.csv: has no column 'unknown_score' or 'logit_0' (it has label, msp)\n");
}

}  // namespace
}  // namespace openset

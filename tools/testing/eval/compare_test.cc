// openset compare, threshold and figure, through the program.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/eval/eval_fixture.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(EvalTest, CompareOnTheSameSamples) {
  WriteLogits("weak.npz", 1, 300, 200);
  WriteLogits("strong.npz", 3, 300, 200);
  const auto json = nlohmann::json::parse(
      Out({"compare", "weak.npz", "strong.npz", "--metrics=auroc", "--replicates=200", "--format=json"}));
  ASSERT_EQ(json["comparisons"].size(), 2);
  for (const auto& row : json["comparisons"]) {
    EXPECT_LT(row["high"], 0);
    EXPECT_EQ(row["verdict"], "strong is better");
    EXPECT_NEAR(row["difference"], row["value_a"].get<double>() - row["value_b"].get<double>(), 1e-15);
  }
  // With several pairs, each row has the interval on which its verdict is based.
  WriteLogits("medium.npz", 1.2, 300, 200);
  const std::vector<std::string> three = {"compare", "weak.npz", "medium.npz", "strong.npz", "--replicates=200"};
  EXPECT_THAT(Out(three),
              HasSubstr("of this pair alone; low, high (Holm):\n  the interval at the level of Holm's procedure"));
  std::vector<std::string> as_json = three;
  as_json.push_back("--format=json");
  const nlohmann::json compared = nlohmann::json::parse(Out(as_json));
  EXPECT_GT(compared.at("comparisons").size(), 3);
  for (const auto& row : compared.at("comparisons")) {
    if (row.contains("absent")) continue;
    EXPECT_EQ(row["low_holm"] > 0 || row["high_holm"] < 0, row["verdict"] != "no detectable difference") << row;
    EXPECT_LE(row["low_holm"], row["low"]) << row;
  }
  EXPECT_THAT(Error({"compare", "weak.npz", "weak.npz"}),
              HasSubstr("weak.npz: is given twice; a method can't be compared with itself"));
  EXPECT_THAT(Error({"compare", "weak.npz", "./weak.npz"}), HasSubstr("./weak.npz: is the same file as weak.npz"));
  WriteLogits("fewer.npz", 3, 30, 20);
  EXPECT_THAT(Error({"compare", "weak.npz", "fewer.npz"}), HasSubstr("weak and fewer: "));
}

// Two scores of the same samples: of the set "far" the first is above all known samples, the second is not.
TEST_F(EvalTest, CompareOneSetOfUnknownSamples) {
  const char* header = "label,prediction,unknown_score,group\n";
  const char* known = "0,0,0.1,\n0,0,0.2,\n0,0,0.3,\n";
  program_.Write("a.csv", absl::StrCat(header, known, "-1,0,0.2,near\n-1,0,0.2,near\n-1,0,0.9,far\n-1,0,0.9,far\n"));
  program_.Write("b.csv", absl::StrCat(header, known, "-1,0,0.2,near\n-1,0,0.2,near\n-1,0,0.2,far\n-1,0,0.2,far\n"));
  const auto compare = [&](const std::string& group) {
    return nlohmann::json::parse(Out({"compare", "a.csv", "b.csv", "--metrics=auroc", "--replicates=50",
                                      "--format=json", "--group=" + group}))["comparisons"][0]["difference"]
        .get<double>();
  };
  EXPECT_EQ(compare("far"), 0.5);
  EXPECT_EQ(compare("near"), 0);
  EXPECT_EQ(compare("pool"), 0.25);
  EXPECT_THAT(Error({"compare", "a.csv", "b.csv", "--group=fra"}),
              HasSubstr("--group: a.csv: unknown group 'fra'; did you mean 'far'?"));
  program_.Write("runs.csv", "method,seed,group,auroc\na,0,far,0.5\na,1,far,0.6\nb,0,far,0.7\nb,1,far,0.9\na,0,,1\n");
  EXPECT_THAT(Out({"compare", "runs.csv", "--group=far"}), HasSubstr("unknown samples: far"));
  EXPECT_THAT(Error({"compare", "runs.csv", "--group=near"}), HasSubstr("runs.csv: unknown group 'near'"));
}

// Two known and two unknown samples in each of three runs: AUROCs of 1, 1 and 0.75 against 0.5, 0.75 and 0.25, so that
// the differences are 0.5, 0.25 and 0.5.
TEST_F(EvalTest, CompareFilesOfSeveralRuns) {
  const std::string scores[2][3] = {{"0.1 0.2 0.3 0.4", "0.1 0.2 0.3 0.4", "0.1 0.3 0.2 0.4"},
                                    {"0.1 0.4 0.2 0.3", "0.1 0.3 0.2 0.4", "0.2 0.4 0.1 0.3"}};
  for (int m = 0; m < 2; ++m) {
    for (int seed = 0; seed < 3; ++seed) {
      const std::vector<std::string> score = absl::StrSplit(scores[m][seed], ' ');
      program_.Write(absl::StrCat(m == 0 ? "ours_" : "msp_", seed, ".csv"),
                     absl::StrCat("label,unknown_score\n0,", score[0], "\n1,", score[1], "\n-1,", score[2], "\n-1,",
                                  score[3], "\n"));
    }
  }
  const ProgramResult result =
      program_.Run({"compare", "msp_{seed}.csv", "ours_{seed}.csv", "--baseline=msp", "--format=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json rows = nlohmann::json::parse(result.out).at("pairs");
  const auto of_auroc =
      std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row.at("metric") == "auroc"; });
  ASSERT_NE(of_auroc, rows.end());
  EXPECT_EQ(of_auroc->at("a"), "ours");
  EXPECT_NEAR(of_auroc->at("mean_difference").get<double>(), (0.5 + 0.25 + 0.5) / 3, 1e-12);
  EXPECT_THAT(
      program_.Run({"compare", "ours_{seed}.csv", "msp_{seed}.csv", "--metrics=auroc", "--format=sentence"}).out,
      HasSubstr("Over 3 seeds of one split, ours had 41.67 points more AUROC than msp"));
  EXPECT_EQ(program_.Run({"compare", "msp_{seed}.csv", "gone_{seed}.csv"}).exit_code, 2);
  EXPECT_EQ(program_.Run({"compare", "msp_{seed}.csv", "ours_0.csv"}).exit_code, 2);
  // Joined, they would count as more samples.
  for (const std::vector<std::string>& joined :
       {std::vector<std::string>{"compare", "msp_0.csv,msp_1.csv", "ours_0.csv,ours_1.csv"},
        {"eval", "msp_0.csv", "msp_1.csv"}}) {
    EXPECT_THAT(program_.Run(joined).err,
                HasSubstr("hint: msp_0.csv, msp_1.csv: have the same labels in the same order."));
  }
}

TEST_F(EvalTest, CompareRuns) {
  std::string results = "method,task,split,seed,auroc\n";
  for (int task = 0; task < 6; ++task) {
    for (int seed = 0; seed < 4; ++seed) {
      const double base = 0.8 + 0.01 * task + 0.001 * seed;
      absl::StrAppend(&results, "a,t", task, ",0,", seed, ",", base, "\n");
      absl::StrAppend(&results, "b,t", task, ",0,", seed, ",", base + 0.05 + 0.0001 * (seed % 2), "\n");
      absl::StrAppend(&results, "c,t", task, ",0,", seed, ",", base - 0.05 - 0.0001 * (seed % 2), "\n");
    }
  }
  program_.Write("results.csv", results);
  const auto json = nlohmann::json::parse(Out({"compare", "results.csv", "--format=json", "--diagram=ranks.svg"}));
  EXPECT_EQ(json["pairs"].size(), 3 * 6);
  EXPECT_EQ(json["pairs"][0]["verdict"], "b is better");
  for (const auto& row : json["pairs"]) {
    EXPECT_EQ(row["low_holm"] > 0 || row["high_holm"] < 0, row["verdict"] != "no detectable difference") << row;
  }
  EXPECT_THAT(json["all_methods"][0]["mean_rank"].get<std::vector<double>>(), ElementsAre(2, 1, 3));
  EXPECT_EQ(json["all_methods"][0]["kendall_w"], 1.0);
  EXPECT_THAT(program_.Read("ranks.svg"), HasSubstr("critical difference"));
  EXPECT_THAT(Out({"compare", "results.csv"}), HasSubstr("auroc over 6 tasks"));
  program_.Write("bad.csv", "method,auroc\na,x\n");
  EXPECT_THAT(Error({"compare", "bad.csv"}), HasSubstr("bad.csv: line 2: column 'auroc': 'x' is not a number"));
  program_.Write("twice.csv", "method,auroc\na,1\na,1\n");
  EXPECT_THAT(Error({"compare", "twice.csv"}), HasSubstr("twice.csv: line 3: there is a value of 'auroc' for a"));
  program_.Write("other.csv", "method,auroq\na,1\nb,1\n");
  EXPECT_THAT(Error({"compare", "other.csv"}), HasSubstr("unknown metric 'auroq'; did you mean 'auroc'?"));
  program_.Write("results.json", "[]");
  EXPECT_THAT(Error({"compare", "results.json"}), HasSubstr("results.json: not in the format of `openset report"));
}

TEST_F(EvalTest, ThresholdIsChosenOnValidationSamplesOnly) {
  WriteLogits("validation.npz", 2);
  WriteLogits("test.npz", 1, 30, 50);
  const auto threshold = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"threshold", "validation.npz"};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back("--format=json");
    return nlohmann::json::parse(Out(words));
  };
  const auto alone = threshold({});
  const auto with_test = threshold({"test.npz"});
  EXPECT_EQ(alone["threshold"], with_test["threshold"]);
  EXPECT_EQ(alone["validation"], with_test["validation"]);
  EXPECT_EQ(with_test["test"]["n_unknown"], 50);
  EXPECT_EQ(alone["validation"]["known_accepted"], 0.95);  // 57 of 60
  for (const char* rule : {"unknown_rejected", "open_set_f_macro", "open_set_f_micro", "youden_macro", "youden_micro",
                           "nacc_rates", "open_set_accuracy", "conformal"}) {
    threshold({absl::StrCat("--rule=", rule)});
  }
  EXPECT_LE(threshold({"--rule=risk", "--target=0.2"})["validation"]["risk"], 0.2);
  EXPECT_THAT(Error({"threshold", "validation.npz", "--rule=risk_guaranteed", "--target=0.0001"}),
              AllOf(HasSubstr("no threshold can guarantee a risk of at most 0.0001 with probability 0.95"),
                    HasSubstr("the smallest risk that these 100 samples can guarantee is ")));
  EXPECT_THAT(Out({"threshold", "validation.npz", "test.npz"}), HasSubstr("percent            of, or what"));
  EXPECT_THAT(Error({"threshold", "validation.npz", "--rule=riks"}), HasSubstr("--rule: unknown rule 'riks'"));
  EXPECT_THAT(Error({"threshold", "validation.npz", "--target=95"}), HasSubstr("--target: must lie in 0 .. 1 (is 95)"));
  program_.Write("bad.csv", "label,prediction,unknown_score\n-1,0,0\n");
  EXPECT_THAT(Error({"threshold", "bad.csv", "--rule=risk", "--target=0"}),
              HasSubstr("bad.csv: no threshold has a risk of at most 0"));
}

TEST_F(EvalTest, Figures) {
  EXPECT_EQ(Out({"figure", "imbalance_figure_1", "--folder=figures"}),
            absl::StrCat("figures/imbalance_figure_1.svg\n", "figures/imbalance_figure_1.csv\n"));
  EXPECT_THAT(program_.Read("figures/imbalance_figure_1.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(Error({"figure", "imbalance"}), HasSubstr("unknown figure 'imbalance'"));
  program_.Write("mine.textproto", "name: 'mine' imbalance { classes: 1 }");
  EXPECT_THAT(Error({"figure", "mine.textproto"}),
              HasSubstr("mine.textproto:1: imbalance.classes: must be at least 2 (is 1)"));
}

}  // namespace
}  // namespace openset

// openset eval, through the program, and the documented examples of eval, compare, threshold and figure.

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "eval/metrics/metric.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/eval/eval_fixture.h"

namespace openset {
namespace {

const int kMetrics = MetricSpec::descriptor()->FindOneofByName("kind")->field_count();

using ::testing::AllOf;
using ::testing::HasSubstr;

// In 5 of the 4 x 2 pairs of a known and an unknown sample, the known one has the smaller score: AUROC 5/8. None of
// these has the misclassified sample: OpenAUC 5/8.
TEST_F(EvalTest, Json) {
  program_.Write("scores.csv", kScores);
  const auto json = nlohmann::json::parse(
      Out({"eval", "scores.csv", "--format=json", "--metrics=accuracy,auroc,openauc,known_unknown_ratio,nll"}));
  EXPECT_EQ(json, nlohmann::json::parse(R"({"n_known": 4, "n_unknown": 2,
      "metrics": {
        "accuracy": {"value": 0.75, "unit": "share", "higher_is_better": true, "label": "accuracy"},
        "auroc": {"value": 0.625, "unit": "share", "higher_is_better": true, "label": "AUROC"},
        "openauc": {"value": 0.625, "unit": "share", "higher_is_better": true, "label": "OpenAUC"},
        "known_unknown_ratio": {"value": 2.0, "unit": "1", "higher_is_better": null, "label": "known : unknown"}},
      "absent": {"nll": "no logits"}})"));
}

TEST_F(EvalTest, EveryMetricHasAValueOrAReason) {
  program_.Write("known.csv", "label,prediction,unknown_score\n0,0,0.5\n1,0,0.5\n");
  const auto json = nlohmann::json::parse(Out({"eval", "known.csv", "--format=json"}));
  EXPECT_EQ(json["n_unknown"], 0);
  EXPECT_EQ(json["absent"]["auroc"], "no unknown samples");
  EXPECT_EQ(json["metrics"]["accuracy"]["value"], 0.5);
  EXPECT_EQ(json["metrics"].size() + json["absent"].size(), kMetrics);
}

TEST_F(EvalTest, FullPrecision) {
  program_.Write("scores.csv", "label,prediction,unknown_score\n0,0,1\n0,0,2\n0,0,4\n-1,0,3\n");
  const std::string text = Out({"eval", "scores.csv", "--format=json", "--metrics=auroc"});
  EXPECT_THAT(text, HasSubstr("0.6666666666666666"));
  EXPECT_THAT(Out({"eval", "scores.csv", "--format=csv", "--metrics=auroc"}),
              HasSubstr("all,auroc,0.6666666666666666"));
}

TEST_F(EvalTest, Tables) {
  program_.Write("scores.csv", kScores);
  const std::vector<std::string> command = {"eval", "scores.csv", "--metrics=auroc,aurc,nll"};
  const auto with = [&](const std::string& flag) {
    std::vector<std::string> words = command;
    words.push_back(flag);
    return Out(words);
  };
  EXPECT_EQ(with("--format=text"),
            "scores.csv\n"
            "unknown score: the file's\n"
            "4 known samples of 2 classes, 2 unknown samples (known : unknown = 2 : 1)\n"
            "\n"
            "metric  value   unit  better  label\n"
            "-----------------------------------\n"
            "auroc   62.50      %  higher  AUROC\n"
            "aurc    62.50  x1000   lower   AURC\n"
            "\n"
            "absent: nll (no logits)\n");
  EXPECT_THAT(with("--format=markdown"), HasSubstr("| auroc  | 62.50 |     % | higher | AUROC |"));
  EXPECT_THAT(with("--format=latex"), HasSubstr("  auroc & 62.50 & \\% & higher & AUROC \\\\\n"));
  EXPECT_EQ(with("--out=table.txt"), "");
  EXPECT_EQ(program_.Read("table.txt"), Out(command));
}

TEST_F(EvalTest, Intervals) {
  WriteLogits("logits.npz", 2);
  const std::vector<std::string> command = {
      "eval", "logits.npz", "--metrics=auroc,openauc,aurc,ece", "--ci", "--format=json", "--replicates=200", "--seed",
      "3",    "--level=0.9"};
  const std::string text = Out(command);
  EXPECT_EQ(text, Out(command));
  const auto json = nlohmann::json::parse(text);
  for (const auto& [name, metric] : json["metrics"].items()) {
    EXPECT_LE(metric["low"], metric["value"]) << name;
    EXPECT_LE(metric["value"], metric["high"]) << name;
    EXPECT_LT(metric["low"], metric["high"]) << name;
  }
  std::vector<std::string> delong = command;
  delong.push_back("--ci_method=delong");
  const auto other = nlohmann::json::parse(Out(delong));
  EXPECT_EQ(other["metrics"]["auroc"]["value"], json["metrics"]["auroc"]["value"]);
  EXPECT_NE(other["metrics"]["auroc"]["low"], json["metrics"]["auroc"]["low"]);
  EXPECT_EQ(other["metrics"]["aurc"], json["metrics"]["aurc"]);
}

TEST_F(EvalTest, ScoresOfLogits) {
  WriteLogits("logits.npz", 2);
  const auto auroc = [&](const std::string& score) {
    return nlohmann::json::parse(Out({"eval", "logits.npz", "--metrics=auroc", "--format=json", "--score=" + score}))
        .at("metrics")
        .at("auroc")
        .at("value")
        .get<double>();
  };
  EXPECT_NE(auroc("max_softmax"), auroc("max_logit"));
  EXPECT_NE(auroc("energy"), auroc("energy { temperature: 100 }"));
  // Strictly decreasing functions of each other.
  EXPECT_EQ(auroc("max_softmax"), auroc("min_misclassification"));
  EXPECT_THAT(Out({"eval", "logits.npz", "--score=temperature_scaled_softmax", "--fit=logits.npz"}),
              HasSubstr("unknown score: temperature_scaled_softmax of the logits"));
}

// Scores of several passes: mutual information separates all samples, and is refused if the file lacks it.
TEST_F(EvalTest, ScoresOfSeveralPasses) {
  NpzArrays arrays = {{"label", Wholes({0, 1, -1})}, {"logits", MakeNpy(std::vector<float>{2, 0, 0, 2, 1, 0}, {3, 2})}};
  WriteArrays("one.npz", arrays);
  EXPECT_THAT(Error({"eval", "one.npz", "--score=mutual_information"}),
              HasSubstr("score mutual_information: the score needs member_uncertainty"));
  arrays["member_uncertainty"] = MakeNpy(std::vector<float>{0, 1, 0, 0.1f, 1, 0, 0.2f, 1, 0}, {3, 3});
  WriteArrays("several.npz", arrays);
  const auto json = nlohmann::json::parse(
      Out({"eval", "several.npz", "--score=mutual_information", "--metrics=auroc", "--format=json"}));
  EXPECT_EQ(json["metrics"]["auroc"]["value"], 1.0);
}

TEST_F(EvalTest, SetsOfUnknownSamplesOfOtherTools) {
  WriteArrays("cifar10.npz", {{"pred", Wholes({0, 1})}, {"conf", Reals({0.9, 0.5})}, {"label", Wholes({0, 1})}});
  WriteArrays("svhn.npz", {{"pred", Wholes({1, 1})}, {"conf", Reals({0.1, 0.7})}, {"label", Wholes({7, 3})}});
  WriteArrays("dtd.npz", {{"pred", Wholes({0})}, {"conf", Reals({0.3})}, {"label", Wholes({-1})}});
  const std::vector<std::string> command = {
      "eval", "cifar10.npz", "svhn.npz", "dtd.npz", "--far=svhn,dtd", "--metrics=auroc,pooled_aurc", "--format=json"};
  const auto json = nlohmann::json::parse(Out(command));
  // svhn: 3 of 4 pairs; dtd: 2 of 2.
  EXPECT_EQ(json["groups"]["svhn"]["metrics"]["auroc"]["value"], 0.75);
  EXPECT_EQ(json["groups"]["dtd"]["metrics"]["auroc"]["value"], 1.0);
  EXPECT_EQ(json["groups"]["mean of far"]["metrics"]["auroc"]["value"], 0.875);
  EXPECT_EQ(json["groups"]["pool"]["n_unknown"], 3);
  EXPECT_EQ(json["metrics"]["auroc"]["value"], 5.0 / 6);
  double parts = 0;
  for (const auto& [name, part] : json["pooled_aurc_parts"].items()) parts += part["value"].get<double>();
  EXPECT_NEAR(parts, json["metrics"]["pooled_aurc"]["value"], 1e-15);
}

TEST_F(EvalTest, Conventions) {
  WriteLogits("logits.npz", 2);
  const auto json = nlohmann::json::parse(Out({"eval", "logits.npz", "--convention=openood", "--format=json"}));
  EXPECT_EQ(json["metrics"].size(), 5);
  EXPECT_TRUE(json["metrics"].contains("FPR@95"));
  const std::string text = Out({"eval", "logits.npz", "--convention=arpl"});
  EXPECT_THAT(text, HasSubstr("TNR: 1 - FPR; the threshold whose TPR is nearest to 95 %"));
  for (const char* name : {"openset", "odin", "oe", "udb", "released"}) {
    Out({"eval", "logits.npz", absl::StrCat("--convention=", name)});
  }
}

TEST_F(EvalTest, Curves) {
  WriteLogits("logits.npz", 2);
  Out({"eval", "logits.npz", "--curves=a/curves"});
  for (const char* name :
       {"roc", "oscr", "risk_coverage", "risk_coverage_pool", "cost", "thresholds", "score_densities", "reliability"}) {
    EXPECT_THAT(program_.Read(absl::StrCat("a/curves/", name, ".svg")), HasSubstr("</svg>")) << name;
    EXPECT_THAT(program_.Read(absl::StrCat("a/curves/", name, ".csv")), HasSubstr("\n")) << name;
  }
  EXPECT_THAT(program_.Read("a/curves/index.html"), AllOf(HasSubstr("OSCR"), HasSubstr("known : unknown = 1.5 : 1")));
  program_.Write("scores.csv", kScores);
  Out({"eval", "scores.csv", "--curves=b"});
  EXPECT_EQ(program_.Read("b/reliability.csv"), "");  // no logits
  EXPECT_THAT(program_.Read("b/roc.csv"),
              HasSubstr("threshold,unknown_accepted,known_accepted\n-inf,0,0\n0.1,0,0.25\n"));
}

// A Python without vl-convert draws nothing.
TEST_F(EvalTest, CurvesWithoutPictures) {
  WriteLogits("logits.npz", 2);
  program_.Write("python", "#!/bin/sh\necho this Python has no vl-convert-python >&2\nexit 1\n");
  const std::string python = JoinPath(program_.folder(), "python");
  ASSERT_EQ(chmod(python.c_str(), 0700), 0);
  setenv("OPENSET_PYTHON", python.c_str(), 1);
  const ProgramResult result = program_.Run({"eval", "logits.npz", "--curves=curves"});
  unsetenv("OPENSET_PYTHON");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("AUROC"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("curves has the page and the tables, and no pictures: "),
                                HasSubstr("this Python has no vl-convert-python")));
  EXPECT_THAT(program_.Read("curves/index.html"), HasSubstr("OSCR"));
  EXPECT_THAT(program_.Read("curves/roc.csv"), HasSubstr("\n"));
  EXPECT_EQ(program_.Read("curves/roc.svg"), "");
}

// What is refused: eval/files/score_file_test.cc and sample_set_test.cc, and tools/testing/people/arrays_test.cc.
TEST_F(EvalTest, BadInputIsOneLine) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  WriteArrays("nan.npz",
              {{"label", Wholes({0, 0})}, {"prediction", Wholes({0, 0})}, {"unknown_score", Reals({0, nan})}});
  EXPECT_EQ(Error({"eval", "nan.npz"}), "openset: nan.npz: array 'unknown_score', row 1: is NaN\n");
  EXPECT_EQ(Error({"eval", "."}), "openset: . is a folder: name a file of scores in it\n");
}

// Likely mistakes are reported on standard error, after the table; they don't change the exit code.
TEST_F(EvalTest, HintsAtMistakes) {
  // 60 known samples of three classes and 40 unknown ones; sample i has the prediction `prediction(i)`.
  const auto write = [&](const std::string& name, double known_score, const auto& prediction) {
    std::string text = "label,prediction,unknown_score\n";
    for (int i = 0; i < 100; ++i) {
      absl::StrAppend(&text, i < 60 ? i % 3 : -1, ",", prediction(i), ",", i < 60 ? known_score : 1, "\n");
    }
    program_.Write(name, text);
  };
  const auto hints = [&](const std::string& name) {
    const ProgramResult result = program_.Run({"eval", name, "--metrics=aurc", "--format=json"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(nlohmann::json::parse(result.out)["metrics"].contains("aurc"));
    return result.err;
  };
  write("right.csv", 0.5, [](int i) { return i % 3; });
  EXPECT_EQ(hints("right.csv"), "");
  write("negated.csv", 1.5, [](int i) { return i % 3; });
  EXPECT_EQ(hints("negated.csv"),
            "hint: AUROC is 0.0 %: known samples have the larger unknown scores; larger means more unknown here, and a "
            "file whose scores are larger for known samples takes --higher_is_known\n");
  // Only labels and scores that are larger for known samples: there is a hint, unless the flag is given.
  std::vector<int64_t> label(100, 0);
  std::vector<double> confidence(100, 2);
  std::fill(label.begin() + 60, label.end(), -1);
  std::fill(confidence.begin() + 60, confidence.end(), 1);
  WriteArrays("scoreonly.npz", {{"label", Wholes(label)}, {"unknown_score", Reals(confidence)}});
  const ProgramResult negated = program_.Run({"eval", "scoreonly.npz", "--metrics=auroc"});
  EXPECT_EQ(negated.exit_code, 0);
  EXPECT_THAT(negated.err, HasSubstr("hint: AUROC is 0.0 %: known samples have the larger unknown scores"));
  EXPECT_EQ(program_.Run({"eval", "scoreonly.npz", "--metrics=auroc", "--higher_is_known"}).err, "");
  write("shifted.csv", 0.5, [](int i) { return (i + 1) % 3; });
  EXPECT_THAT(hints("shifted.csv"),
              HasSubstr("hint: accuracy is 0.0 %, and 100.0 % with the known classes in another order "
                        "(label 0 is prediction 1, label 1 is prediction 2, label 2 is"));
  write("guessed.csv", 0.5, [](int i) { return i / 3 % 3; });
  EXPECT_THAT(hints("guessed.csv"),
              HasSubstr("hint: accuracy is 33.3 % on 60 known samples, no better than guessing "));
}

TEST_F(EvalTest, BadFlags) {
  program_.Write("scores.csv", kScores);
  const auto error = [&](const std::string& flag) { return Error({"eval", "scores.csv", flag}); };
  EXPECT_THAT(error("--metrics=auroq"), HasSubstr("--metrics: unknown metric 'auroq'; did you mean 'auroc'?"));
  EXPECT_THAT(error("--metrics=auroc,auroc"), HasSubstr("there is another metric named 'auroc'"));
  EXPECT_THAT(error("--metrics=ece { bins: 0 }"), HasSubstr("ece.bins: must be at least 1 (is 0)"));
  EXPECT_THAT(error("--score=enery"), HasSubstr("--score: unknown score 'enery'; did you mean 'energy'?"));
  EXPECT_THAT(error("--score=energy"), HasSubstr("score energy: the samples have no logits"));
  EXPECT_THAT(error("--format=xml"),
              HasSubstr("--format: unknown format 'xml' (known: text, markdown, latex, csv, json)"));
  EXPECT_THAT(error("--convention=mine"), HasSubstr("--convention: unknown convention 'mine'"));
  EXPECT_THAT(error("--ci_method=magic"), HasSubstr("--ci_method: unknown method 'magic'"));
  EXPECT_THAT(error("--replicates=0"), HasSubstr("--replicates, --level, --threads: "));
  EXPECT_THAT(error("--near=svhn"), HasSubstr("group 'svhn' has a role, but the samples have no groups"));
  EXPECT_THAT(Error({"eval"}), HasSubstr("usage: openset eval FILE..."));
}

// Files with the names that the examples use.
class ExamplesTest : public EvalTest {
 protected:
  ExamplesTest() {
    uint64_t seed = 0;  // each file has other samples
    for (const char* name : {"logits.npz", "validation.npz", "test.npz", "softmax.npz", "energy.npz", "fit.npz",
                             "new.npz", "a.npz", "b.npz", "a_fit.npz", "b_fit.npz"}) {
      WriteLogits(name, 2, 60, 40, ++seed);
    }
    program_.Write("scores.csv", kScores);
    for (int run = 0; run < 3; ++run) {  // AUROCs of 1, 1, 0.75; 1, 0.75, 0.5; 1, 1, 1
      const int known[] = {run == 2 ? 35 : 20, 25 + 10 * run, 20 + run};
      const char* methods[] = {"msp", "energy", "ours"};
      for (int m = 0; m < 3; ++m) {
        program_.Write(absl::StrCat(methods[m], "_", run, ".csv"),
                       absl::StrCat("label,unknown_score\n0,10\n1,", known[m], "\n-1,30\n-1,40\n"));
      }
    }
    // The fifth of the answers with the largest scores is wrong.
    std::string answers = "unknown_score,correct\n";
    for (int i = 0; i < 500; ++i) absl::StrAppend(&answers, i, ",", i < 400 ? 1 : 0, "\n");
    program_.Write("answers.csv", answers);
    for (const char* name : {"validation.npz", "fit.npz", "new.npz", "a.npz", "b.npz", "a_fit.npz", "b_fit.npz"}) {
      const std::string path = JoinPath(program_.folder(), name);
      NpzArrays arrays = *ReadNpz(path);
      arrays["features"] = arrays["logits"];
      WriteArrays(name, arrays);
    }
    program_.Write("label.npy", FormatNpy(Wholes({0, 1, -1})));
    program_.Write("prediction.npy", FormatNpy(Wholes({0, 1, 1})));
    program_.Write("unknown_score.npy", FormatNpy(Reals({1, 2, 3})));
    for (const char* name : {"cifar10", "cifar100", "svhn"}) {
      const int64_t label = name == std::string("cifar10") ? 0 : -1;
      WriteArrays(absl::StrCat(name, ".npz"),
                  {{"pred", Wholes({0, 1})}, {"conf", Reals({0.3, 0.5})}, {"label", Wholes({label, label})}});
    }
    WriteArrays("raw_logits.npz", {{"arr_0", MakeNpy(std::vector<float>{1, 0, 0, 0, 2, 0, 1, 1, 0, 3, 9, 2}, {3, 4})}});
    program_.Write("results.csv",
                   "method,task,split,seed,auroc,openauc\n"
                   "mcp,s,0,0,0.1,0.2\nmcp,s,0,1,0.2,0.3\nmcp,t,0,0,0.1,0.2\nmcp,t,0,1,0.2,0.3\n"
                   "b,s,0,0,0.2,0.2\nb,s,0,1,0.2,0.4\nb,t,0,0,0.1,0.3\nb,t,0,1,0.2,0.4\n"
                   "c,s,0,0,0.3,0.2\nc,s,0,1,0.2,0.4\nc,t,0,0,0.1,0.3\nc,t,0,1,0.3,0.5\n");
  }

  // Runs each line that starts with `indent` and "openset ", as a shell would; returns how many there are.
  int RunExamples(absl::string_view text, absl::string_view indent) const {
    int examples = 0;
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      if (!absl::ConsumePrefix(&line, indent) || !absl::ConsumePrefix(&line, "openset ")) continue;
      // Examples that need a completed study are in run_test.cc.
      const auto of_study = {" --curve=", " --x=",        " --improvement=", " --softmax=",
                             " lambda ",  " quickstart ", " results.zip ",   "score_"};
      if (absl::c_any_of(of_study, [&](const char* flag) { return absl::StrContains(line, flag); })) continue;
      line = line.substr(0, line.find("  #"));  // a shell comment
      line = absl::StripTrailingAsciiWhitespace(line);
      std::vector<std::string> words(1);  // quoted words may contain spaces
      bool quoted = false;
      for (const char c : line) {
        if (c == '\'') {
          quoted = !quoted;
        } else if (c == ' ' && !quoted) {
          words.emplace_back();
        } else {
          words.back().push_back(c);
        }
      }
      const ProgramResult result = program_.Run(words);
      EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.err;
      ++examples;
    }
    return examples;
  }
};

TEST_F(ExamplesTest, HelpExamplesRun) {
  int examples = 0;
  for (const std::string command : {"eval", "compare", "threshold", "detector", "figure"}) {
    examples += RunExamples(Out({"help", command}), "  ");
  }
  EXPECT_EQ(examples, 24);
}

TEST_F(ExamplesTest, DocumentationExamplesRun) {
  EXPECT_EQ(RunExamples(*ReadFile("docs/eval.md"), "    "), 15);
  EXPECT_EQ(RunExamples(*ReadFile("docs/decisions.md"), "    "), 7);
}

// Files that users have for `openset eval`: one file of known and one of unknown samples, arrays with other names,
// logits that a score can't use.

using ::testing::ElementsAre;

// The largest logits are 2, 1, 0.5 and 0.1; labels are not needed if all samples are unknown.
TEST_F(EvalTest, AFileThatIsDeclaredUnknownNeedsNoLabels) {
  WriteArrays("known.npz", {{"label", Wholes({0, 1})}, {"logits", MakeNpy(std::vector<float>{2, 0, 0, 1}, {2, 2})}});
  WriteArrays("ood.npz", {{"logits", MakeNpy(std::vector<float>{0.5f, 0, 0, 0.1f}, {2, 2})}});
  const auto json = nlohmann::json::parse(
      Out({"eval", "known.npz", "ood.npz", "--unknown=ood", "--metrics=auroc", "--score=max_logit", "--format=json"}));
  EXPECT_EQ(json["n_known"], 2);
  EXPECT_EQ(json["n_unknown"], 2);
  EXPECT_EQ(json["metrics"]["auroc"]["value"], 1);
  EXPECT_THAT(Error({"eval", "known.npz", "ood.npz", "--metrics=auroc"}), HasSubstr("ood.npz: has no array 'label'"));
}

// The largest logits are -0.011 on average, so ViM's factor would be negative.
TEST_F(EvalTest, VimExplainsWhyItCannotBeUsed) {
  std::vector<float> logits, features;
  std::vector<int64_t> label;
  for (int i = 0; i < 12; ++i) {
    label.push_back(i % 3);
    for (int c = 0; c < 3; ++c) logits.push_back(c == 0 ? -0.011f : -1.0f);
    for (int d = 0; d < 6; ++d) features.push_back(static_cast<float>(i * (d + 2) % 7));
  }
  WriteArrays("net.npz", {{"label", Wholes(label)},
                          {"logits", MakeNpy(logits, {12, 3})},
                          {"features", MakeNpy(features, {12, 6})},
                          {"head_weight", MakeNpy(std::vector<float>(18, 0), {3, 6})},
                          {"head_bias", MakeNpy(std::vector<float>{-0.011f, -1, -1}, {3})}});
  EXPECT_EQ(
      Error({"eval", "net.npz", "--fit=net.npz", "--score=vim"}),
      "openset: score vim: ViM can't be used: this network's largest logits average -0.011 on the training samples, "
      "and the score needs a positive number. Train longer, or drop vim\n");
}

// openset eval --as=methods: several methods in one table and one plot.

using ::testing::Not;

class EvalMethodsTest : public EvalTest {
 protected:
  // a.npz: AUROC 3/4, all predictions correct; b.npz: only scores, AUROC 1.
  EvalMethodsTest() {
    WriteArrays("a.npz", {{"label", Wholes({0, 1, -1, -1})},
                          {"prediction", Wholes({0, 1, 0, 1})},
                          {"unknown_score", Reals({0.1, 0.4, 0.2, 0.9})}});
    WriteArrays("b.npz", {{"label", Wholes({0, 1, -1, -1})}, {"unknown_score", Reals({1, 2, 3, 4})}});
  }

  std::string Methods(std::vector<std::string> more) const {
    more.insert(more.begin(), {"eval", "a.npz", "b.npz", "--as=methods", "--metrics=auroc,accuracy"});
    return Out(more);
  }
};

TEST_F(EvalMethodsTest, OneTable) {
  EXPECT_EQ(Methods({}),
            "a: a.npz, unknown score: the file's\n"
            "b: b.npz, unknown score: the file's\n"
            "2 known samples of 2 classes, 2 unknown samples (known : unknown = 1 : 1)\n"
            "\n"
            "metric         a       b  unit  better     label\n"
            "------------------------------------------------\n"
            "auroc      75.00  100.00     %  higher     AUROC\n"
            "accuracy  100.00       -     %  higher  accuracy\n"
            "\n"
            "absent of b: accuracy (no predictions)\n");
}

TEST_F(EvalMethodsTest, EachMethodHasTheSameNumbersAlone) {
  const auto json = nlohmann::json::parse(Methods({"--format=json", "--ci", "--replicates=200"}));
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(json["methods"][name],
              nlohmann::json::parse(Out({"eval", absl::StrCat(name, ".npz"), "--metrics=auroc,accuracy",
                                         "--format=json", "--ci", "--replicates=200"})))
        << name;
  }
  EXPECT_THAT(Methods({"--format=csv"}), AllOf(HasSubstr("\na,all,auroc,0.75,"), HasSubstr("\nb,all,auroc,1,")));
  EXPECT_THAT(Methods({"--format=markdown"}), HasSubstr("| auroc    |  75.00 | 100.00 |"));
}

// The energy of the logits 0 and 0 is -log 2; of 0 and log 3, it is -log 4.
TEST_F(EvalMethodsTest, TheScoreOfEachSampleIsWritten) {
  WriteArrays("logits.npz",
              {{"label", Wholes({0, -1})},
               {"logits", MakeNpy(std::vector<float>{0, 0, 0, static_cast<float>(std::log(3))}, {2, 2})}});
  Out({"eval", "logits.npz", "--score=energy", "--sample_scores=scores.npz"});
  const NpzArrays written = ReadNpz(JoinPath(program_.folder(), "scores.npz")).value();
  const std::vector<double> scores = ToDouble(written.at("unknown_score")).value();
  ASSERT_EQ(scores.size(), 2);
  EXPECT_NEAR(scores[0], -std::log(2), 1e-6);
  EXPECT_NEAR(scores[1], -std::log(4), 1e-6);
  EXPECT_EQ(ToInt64(written.at("prediction")).value(), (std::vector<int64_t>{0, 1}));

  EXPECT_THAT(Error({"eval", "a.npz", "b.npz", "--as=methods", "--sample_scores=scores.npz"}),
              HasSubstr("--sample_scores: goes with one method"));
}

TEST_F(EvalMethodsTest, LatexAndCurvesInOnePicture) {
  EXPECT_THAT(Methods({"--curves=c", "--format=latex"}),
              AllOf(HasSubstr("auroc & 75.00 & 100.00 & \\% & higher & AUROC \\\\\n"),
                    HasSubstr("% absent of b: accuracy (no predictions)\n")));
  EXPECT_THAT(Methods({"--rows=method", "--format=latex"}),
              AllOf(HasSubstr("method & AUROC, \\% & accuracy, \\% \\\\\n"), HasSubstr("b & 100.00 & - \\\\\n")));
  const std::string roc = program_.Read("c/roc.svg");
  EXPECT_THAT(roc, AllOf(HasSubstr("a (AUROC 75.00 %)"), HasSubstr("b (AUROC 100.00 %)")));
  EXPECT_THAT(program_.Read("c/roc.csv"), AllOf(HasSubstr("\na,0.1"), HasSubstr("\nb,2,0,1\n")));
  EXPECT_THAT(program_.Read("c/oscr.csv"), AllOf(HasSubstr("\na,"), Not(HasSubstr("\nb,"))));
  EXPECT_THAT(program_.Read("c/index.html"), HasSubstr("100.00"));
}

// A method's samples may be in several files, for example one for each set of unknown samples.
TEST_F(EvalMethodsTest, SetsOfUnknownSamples) {
  program_.Write("known.csv", "label,unknown_score\n0,1\n1,3\n");
  program_.Write("svhn.csv", "label,unknown_score\n,2\n,4\n");
  program_.Write("dtd.csv", "label,unknown_score\n,5\n");
  const auto json = nlohmann::json::parse(
      Out({"eval", "known.csv,svhn.csv,dtd.csv", "b.npz", "--as=methods", "--metrics=auroc", "--format=json"}));
  EXPECT_EQ(json["methods"]["known+svhn+dtd"]["groups"]["svhn"]["metrics"]["auroc"]["value"], 0.75);
  EXPECT_EQ(json["methods"]["known+svhn+dtd"]["groups"]["dtd"]["metrics"]["auroc"]["value"], 1.0);
  EXPECT_EQ(json["methods"]["b"]["metrics"]["auroc"]["value"], 1.0);
}

TEST_F(EvalMethodsTest, BadInput) {
  const auto error = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"eval", "a.npz", "--as=methods"};
    words.insert(words.end(), more.begin(), more.end());
    return Error(words);
  };
  EXPECT_EQ(error({"a.npz"}), "openset: --as=methods: a.npz is given twice\n");
  EXPECT_THAT(error({"nowhere.npz"}), HasSubstr("nowhere.npz: No such file or directory"));
  EXPECT_THAT(error({"--classes=c.csv"}), HasSubstr("--classes: goes with one method"));
  EXPECT_THAT(error({"--rows=metrics"}), HasSubstr("--rows: unknown value 'metrics'; did you mean 'metric'?"));
  EXPECT_THAT(Error({"eval", "a.npz", "--rows=method"}), HasSubstr("it goes with --as=methods"));
  EXPECT_THAT(Error({"eval", "a.npz", "--as=method"}), HasSubstr("unknown value 'method'; did you mean 'methods'?"));
}

// Files of scores without predictions, and tables as pandas writes them, through the program.

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
  EXPECT_EQ(metrics.size() + json["absent"].size(), kMetrics);
  for (const char* name : {"accuracy", "openauc", "oscr", "aurc", "open_set_f_macro", "inner"}) {
    EXPECT_EQ(json["absent"][name], "no predictions") << name;
  }
  EXPECT_EQ(json["absent"]["ece"], "no logits");
  EXPECT_FALSE(json.contains("pooled_aurc_parts"));
}

// Whether answers are right, without classes. By score: right, wrong, right, wrong.
TEST_F(EvalTest, RightAndWrongAnswers) {
  program_.Write("answers.csv", "unknown_score,correct\n0.1,1\n0.3,1\n0.2,0\n0.4,0\n");
  const auto json = nlohmann::json::parse(Out({"eval", "answers.csv", "--format=json"}));
  EXPECT_EQ(json["n_known"], 4);
  EXPECT_EQ(json["n_unknown"], 0);
  EXPECT_EQ(json["metrics"]["accuracy"]["value"], 0.5);
  const double aurc = (0 + 1.0 / 2 + 1.0 / 3 + 2.0 / 4) / 4, best = (0 + 0 + 1.0 / 3 + 2.0 / 4) / 4;
  EXPECT_NEAR(json["metrics"]["aurc"]["value"], aurc, 1e-15);
  EXPECT_NEAR(json["metrics"]["prediction_rejection_ratio"]["value"], (0.5 - aurc) / (0.5 - best), 1e-15);
  EXPECT_EQ(json["absent"]["inner"], "needs the predicted classes; only right and wrong are known");
  EXPECT_EQ(json["absent"]["nll"], "no logits");
  // The same as a loss. Metrics of right and wrong answers are absent; risks are mean losses.
  program_.Write("loss.csv", "unknown_score,loss\n0.1,0\n0.3,0\n0.2,1\n0.4,1\n");
  const auto loss = nlohmann::json::parse(Out({"eval", "loss.csv", "--format=json"}));
  for (const char* name : {"aurc", "augrc", "prediction_rejection_ratio", "risk_at_coverage"}) {
    const auto of = [name](const nlohmann::json& from) {
      for (const auto& [key, value] : from["metrics"].items()) {
        if (key.rfind(name, 0) == 0 || (std::string(name) == "risk_at_coverage" && key == "risk_at_0.8coverage")) {
          return value["value"].get<double>();
        }
      }
      return -1.0;
    };
    EXPECT_EQ(of(loss), of(json)) << name;
  }
  EXPECT_EQ(loss["absent"]["accuracy"], "needs answers that are right or wrong, and the samples have a loss");
  program_.Write("graded.csv", "unknown_score,loss\n0.1,0.25\n0.2,0.75\n");
  EXPECT_NEAR(
      nlohmann::json::parse(Out({"eval", "graded.csv", "--metrics=aurc", "--format=json"}))["metrics"]["aurc"]["value"]
          .get<double>(),
      (0.25 + 0.5) / 2, 1e-15);
  // Thresholds by risk, with curves.
  const auto threshold =
      nlohmann::json::parse(Out({"threshold", "answers.csv", "--rule=risk", "--target=0.34", "--format=json"}));
  EXPECT_EQ(threshold["threshold"], 0.3);
  EXPECT_FALSE(threshold["validation"].contains("open_set_f_macro"));
  Out({"eval", "loss.csv", "--curves=curves"});
  EXPECT_THAT(program_.Read("curves/risk_coverage.csv"), HasSubstr("\n"));

  EXPECT_THAT(Error({"threshold", "answers.csv", "--rule=youden_macro"}), HasSubstr("needs the predicted classes"));
  EXPECT_THAT(Error({"eval", "answers.csv", "--classes=c.csv"}), HasSubstr("needs predicted classes"));
  // Unknown samples have no answer.
  program_.Write("far.csv", "unknown_score\n0.35\n0.5\n");
  const auto both = nlohmann::json::parse(
      Out({"eval", "answers.csv", "far.csv", "--unknown=far", "--metrics=auroc,pooled_aurc", "--format=json"}));
  EXPECT_EQ(both["metrics"]["auroc"]["value"], 7.0 / 8);
  EXPECT_NEAR(both["metrics"]["pooled_aurc"]["value"].get<double>(),
              (0 + 1.0 / 2 + 1.0 / 3 + 2.0 / 4 + 3.0 / 5 + 4.0 / 6) / 6, 1e-15);
  program_.Write("half.csv", "unknown_score,correct\n0.1,0.5\n");
  EXPECT_THAT(Error({"eval", "half.csv"}), HasSubstr("line 2: column 'correct': is 0.5; it must be 0 or 1"));
  program_.Write("large.csv", "unknown_score,loss\n0.1,0.5\n0.2,7\n");
  EXPECT_THAT(Error({"eval", "large.csv"}), HasSubstr("line 3: column 'loss': is 7; it must lie in 0 .. 1"));
  program_.Write("both.csv", "unknown_score,correct,prediction,label\n0.1,1,0,0\n");
  EXPECT_THAT(Error({"eval", "both.csv"}), HasSubstr("'correct' is there next to 'prediction'"));
}

// In each format.
TEST_F(EvalTest, MetricsOfPredictionsAreAbsentWithAReason) {
  WriteArrays("scoreonly.npz", {{"label", Wholes({0, 1, -1, -1})}, {"unknown_score", Reals({0.1, 0.4, 0.2, 0.9})}});
  const auto with = [&](const std::string& format) {
    return Out({"eval", "scoreonly.npz", "--metrics=auroc,accuracy,oscr", "--format=" + format});
  };
  EXPECT_EQ(with("text"),
            "scoreonly.npz\n"
            "unknown score: the file's\n"
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
  EXPECT_THAT(Error({"eval", "scoreonly.npz", "--classes=classes.csv"}),
              HasSubstr("--classes: needs predicted classes"));
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
  EXPECT_THAT(Error({"threshold", "a.csv", "--confusion=c.csv"}), HasSubstr("--confusion: needs predicted classes"));
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
              HasSubstr("unknown score: minus the file's\n"));
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
      AllOf(HasSubstr("class,samples,accuracy\ncat,3,0.6666666666666666\ndog,2,0.5\n"), HasSubstr("ox;2,0,\n")));
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

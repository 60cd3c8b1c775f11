// Outputs and features that were computed elsewhere: `openset score` on files of outputs, and studies of both.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/files/formats/npz.h"
#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kClasses = 4, kDim = 6;

// Samples around points: sample i of the known ones is of class i % kClasses, others are of the groups "near" and
// "far".
struct Cloud {
  std::vector<float> features;  // [N, kDim]
  std::vector<int64_t> label, group;

  int64_t size() const { return static_cast<int64_t>(label.size()); }

  NpzArrays Arrays() const {
    return {{"features", MakeNpy(features, {size(), kDim})},
            {"label", MakeNpy(label, {size()})},
            {"group", MakeNpy(group, {size()})},
            {"group_names", MakeNpy({"near", "far"})}};
  }
};

Cloud MakeCloud(int64_t known, int64_t unknown, uint64_t seed) {
  Cloud cloud;
  RandomStream random(seed, "cloud");
  const auto add = [&](int64_t label, int64_t group, const std::vector<double>& centre) {
    for (const double c : centre) cloud.features.push_back(static_cast<float>(c + random.Normal()));
    cloud.label.push_back(label);
    cloud.group.push_back(group);
  };
  for (int64_t i = 0; i < known; ++i) {
    std::vector<double> centre(kDim, 0);
    centre[i % kClasses] = 3;
    add(i % kClasses, -1, centre);
  }
  for (int64_t i = 0; i < unknown; ++i) {
    std::vector<double> centre(kDim, 0);
    centre[kClasses + i % 2] = i % 2 == 0 ? 1.5 : 4;
    add(-1, i % 2, centre);
  }
  return cloud;
}

// The cloud's outputs of a linear network: logit c is 3 x_c + `bias` c.
NpzArrays OutputsOf(const Cloud& cloud, float bias = 0) {
  std::vector<float> weight(kClasses * kDim, 0), biases, logits;
  for (int64_t c = 0; c < kClasses; ++c) {
    weight[c * kDim + c] = 3;
    biases.push_back(bias * static_cast<float>(c));
  }
  for (int64_t i = 0; i < cloud.size(); ++i) {
    for (int64_t c = 0; c < kClasses; ++c) logits.push_back(3 * cloud.features[i * kDim + c] + biases[c]);
  }
  NpzArrays arrays = cloud.Arrays();
  arrays["logits"] = MakeNpy(logits, {cloud.size(), kClasses});
  arrays["head_weight"] = MakeNpy(weight, {kClasses, kDim});
  arrays["head_bias"] = MakeNpy(biases, {kClasses});
  return arrays;
}

class BringYourOwn : public ::testing::Test {
 protected:
  void Put(const std::string& name, const NpzArrays& arrays) {
    ASSERT_TRUE(WriteNpz(program_.folder() + "/" + name, arrays).ok());
  }

  // [method][metric] of the pool, of the last report.
  std::map<std::string, std::map<std::string, double>> Means(const std::string& name) {
    std::map<std::string, std::map<std::string, double>> means;
    const auto report = nlohmann::json::parse(program_.Read("openset-store/reports/" + name + "/report.json"));
    for (const nlohmann::json& cell : report.at("cells")) {
      if (cell.at("n") >= 1 && (!cell.contains("group") || cell.at("group") == "pool")) {
        means[cell.at("method")][cell.at("metric")] = cell.at("mean");
      }
    }
    return means;
  }

  // The metrics of `openset eval` for the pool.
  std::map<std::string, double> Eval(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"eval", "--format=json", "--metrics=accuracy,auroc,aurc,openauc"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const ProgramResult result = program_.Run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::map<std::string, double> values;
    for (const auto& [name, metric] : nlohmann::json::parse(result.out).at("metrics").items()) {
      values[name] = metric.at("value");
    }
    return values;
  }

  OpensetProgram program_;
};

// Records of imported outputs have the very numbers of `openset eval` on the same files.
TEST_F(BringYourOwn, OutputsScoreAsTheyEvaluate) {
  Put("net.npz", OutputsOf(MakeCloud(400, 300, 1)));
  Put("fit.npz", OutputsOf(MakeCloud(200, 0, 2)));
  // The worker with LibTorch is not needed.
  const ProgramResult result = program_.Run({"score", "--model=net.npz", "--fit=fit.npz", "--worker=/nowhere/worker",
                                             "--methods=mcp,energy_score,knn,react"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto means = Means("score_net");
  for (const auto& [method, score] : {std::pair{"mcp", "max_softmax"}, {"energy_score", "energy"}, {"knn", "knn"}}) {
    for (const auto& [metric, value] : Eval({"net.npz", "--fit=fit.npz", absl::StrCat("--score=", score)})) {
      EXPECT_EQ(means.at(method).at(metric), value) << method << " " << metric;
    }
  }
  EXPECT_EQ(means.count("react"), 1);
  // One run: its methods are compared on its samples, as `compare` does for files.
  const ProgramResult of_study = program_.Run({"compare", "score_net", "--metrics=auroc", "--format=json"});
  ASSERT_EQ(of_study.exit_code, 0) << of_study.err;
  const nlohmann::json rows = nlohmann::json::parse(of_study.out).at("comparisons");
  ASSERT_EQ(rows.size(), 3 * 2);  // the best method against each other one, by the bootstrap and by DeLong's test
  for (const nlohmann::json& row : rows) {
    const double best = means.at(row.at("a")).at("auroc"), other = means.at(row.at("b")).at("auroc");
    EXPECT_GE(best, other);
    EXPECT_NEAR(row.at("difference").get<double>(), best - other, 1e-12);
  }
  EXPECT_THAT(program_.Run({"compare", "score_net"}).out,
              AllOf(HasSubstr("one run (net, split 0, seed 0)"), HasSubstr("is the best of 4 on these test samples")));
  EXPECT_EQ(program_.Run({"compare", "score_net", "--baseline=mcp"}).exit_code, 0);
  EXPECT_THAT(program_.Run({"compare", "score_net", "--baseline=mpc"}).err, HasSubstr("--baseline: "));
  EXPECT_THAT(program_.Run({"score", "--model=net.npz", "--methods=knn"}).err,
              AllOf(HasSubstr("--methods: knn is fitted to training samples"), HasSubstr("--fit")));
  NpzArrays logits_only = OutputsOf(MakeCloud(40, 30, 1));
  logits_only.erase("features");
  logits_only.erase("head_weight");
  logits_only.erase("head_bias");
  Put("logits.npz", logits_only);
  EXPECT_THAT(program_.Run({"score", "--model=logits.npz", "--fit=fit.npz", "--methods=knn"}).err,
              HasSubstr("needs an array 'features' in the file of outputs"));
}

// The table begins with the best AUROC. A dagger marks it and what `compare` doesn't tell apart from it.
TEST_F(BringYourOwn, TheTableSaysWhichScoreIsBest) {
  Put("net.npz", OutputsOf(MakeCloud(400, 300, 1)));
  Put("fit.npz", OutputsOf(MakeCloud(200, 0, 2)));
  const ProgramResult result = program_.Run({"score", "--model=net.npz", "--fit=fit.npz"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto means = Means("score_net");
  ASSERT_GT(means.size(), 20);
  std::string best;
  for (const auto& [method, values] : means) {
    if (best.empty() || values.at("auroc") > means.at(best).at("auroc")) best = method;
  }
  std::set<std::string> not_told_apart = {best};
  const ProgramResult compared = program_.Run({"compare", "score_net", "--metrics=auroc", "--format=json"});
  for (const nlohmann::json& row : nlohmann::json::parse(compared.out).at("comparisons")) {
    if (row.at("test") == "delong" && row.at("p_holm") >= 0.05) not_told_apart.insert(row.at("b"));
  }
  EXPECT_LT(not_told_apart.size(), means.size());
  std::set<std::string> marked;
  for (const nlohmann::json& cell :
       nlohmann::json::parse(program_.Read("openset-store/reports/score_net/report.json")).at("cells")) {
    if (cell.contains("among_best")) marked.insert(cell.at("method"));
    if (cell.at("metric") == "auroc") {
      EXPECT_LE(cell.at("low")[0], cell.at("mean")) << cell.at("method");
      EXPECT_GE(cell.at("high")[0], cell.at("mean")) << cell.at("method");
    }
  }
  EXPECT_EQ(marked, not_told_apart);
  // The rows of the first table are in the order of their AUROC, and the first one is marked.
  double last = 1;
  int rows = 0;
  for (const absl::string_view line : absl::StrSplit(result.out, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.empty() || means.count(words[0]) == 0 || words.size() < 4) continue;
    if (++rows > static_cast<int>(means.size())) break;
    EXPECT_LE(means.at(words[0]).at("auroc"), last) << words[0];
    last = means.at(words[0]).at("auroc");
    EXPECT_EQ(absl::StrContains(line, "†"), marked.count(words[0]) > 0) << line;
  }
  EXPECT_THAT(absl::StrReplaceAll(result.out, {{"\n  ", " "}}),
              AllOf(HasSubstr("each that DeLong's paired test on the same 700 samples doesn't tell apart from it"),
                    HasSubstr(absl::StrCat("The best of ", means.size(), " is chosen on the test samples here"))));
  // Samples in clusters are resampled together instead.
  NpzArrays arrays = OutputsOf(MakeCloud(400, 300, 1));
  std::vector<int64_t> cluster;
  for (int64_t i = 0; i < 700; ++i) cluster.push_back(i / 2);
  arrays["cluster"] = MakeNpy(cluster, {700});
  Put("pairs.npz", arrays);
  const ProgramResult pairs = program_.Run({"score", "--model=pairs.npz", "--methods=mcp,energy_score"});
  ASSERT_EQ(pairs.exit_code, 0) << pairs.err;
  EXPECT_THAT(absl::StrReplaceAll(pairs.out, {{"\n  ", " "}}),
              AllOf(HasSubstr("each that the paired bootstrap of clusters on the same 700 samples"),
                    HasSubstr("over 1 test;")));
}

TEST_F(BringYourOwn, FilesOfSplitsAndSeedsAreOneStudy) {
  for (int split = 0; split < 3; ++split) {
    for (int seed = 0; seed < 2; ++seed) {
      Put(absl::StrCat("net_", split, "_", seed, ".npz"),
          OutputsOf(MakeCloud(100, 60, 10 + split), 0.1F * static_cast<float>(seed)));
    }
  }
  const ProgramResult result =
      program_.Run({"score", "--model=net_{split}_{seed}.npz", "--methods=mcp,max_logit,energy_score"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(program_.Records().size(), 3 * 3 * 2);
  EXPECT_THAT(result.out, HasSubstr("(n=6)"));
  // Splits are enough for a test.
  const ProgramResult compared = program_.Run({"compare", "score_net"});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, Not(HasSubstr("two runs are needed")));
  // A hole is named before anything runs.
  ASSERT_EQ(remove((program_.folder() + "/net_2_1.npz").c_str()), 0);
  EXPECT_THAT(program_.Run({"score", "--model=net_{split}_{seed}.npz"}).err,
              AllOf(HasSubstr("--model: "), HasSubstr("net_2_1.npz")));
  EXPECT_THAT(program_.Run({"score", "--model=other_{split}.npz"}).err, HasSubstr("no file is called "));
  // Other labels in another seed of the same split.
  Put("net_2_1.npz", OutputsOf(MakeCloud(104, 60, 12)));
  const ProgramResult differs = program_.Run({"score", "--model=net_{split}_{seed}.npz", "--methods=mcp"});
  EXPECT_EQ(differs.exit_code, 1);
  EXPECT_THAT(absl::StrCat(differs.out, differs.err),
              HasSubstr("has 104 known samples, and the task's split has 100 to test on"));
}

// A task of features on which imported outputs, fitted heads and a trained head are measured together.
constexpr char kTask[] = R"(
name: "cloud" data_set: "features:cloud.npz"
split { known: [0, 1, 2, 3] }
unknown { group: "near" data_set: "features:cloud.npz" part: "near" class_id: 5 }
unknown { group: "far" data_set: "features:cloud.npz" part: "far" class_id: 4 }
)";
constexpr char kStudy[] = R"(
name: "study" question: "Which head?" task: "cloud.textproto"
method: ["logistic_regression", "nearest_mean"METHODS]
seed: [0, 1]
metric { accuracy {} }
metric { auroc {} }
override { training { epochs: 20 batch_size: 16 optimizer { learning_rate: 0.01 adam {} } schedule { constant {} } } }
)";

TEST_F(BringYourOwn, FeaturesOutputsAndHeadsShareATable) {
  Put("cloud.npz", MakeCloud(600, 100, 3).Arrays());
  program_.Write("cloud.textproto", kTask);
  program_.Write("study.textproto", absl::StrReplaceAll(kStudy, {{"METHODS", ", \"mcp+features\", \"knn+features\""}}));
  const ProgramResult result = program_.Run({"run", "study.textproto"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto means = Means("study");
  ASSERT_EQ(means.size(), 4);
  for (const auto& [method, values] : means) {
    // The classes are 4.2 standard deviations apart: two of them are confused in 1.7 % of all samples, four in less
    // than 5.2 %; 15 % of 120 test samples is 5 standard deviations above that.
    EXPECT_GT(values.at("accuracy"), 0.85) << method;
    EXPECT_GT(values.at("auroc"), 0.7) << method;
  }
  EXPECT_THAT(result.out, AllOf(HasSubstr("near"), HasSubstr("far")));
  EXPECT_THAT(program_.Run({"run", "study.textproto"}).exit_code, 0);
}

TEST_F(BringYourOwn, NetworksThatPythonRunsAreSentThere) {
  EXPECT_THAT(program_.Run({"score", "--model=net.onnx"}).err,
              HasSubstr("in Python, openset.collect('net.onnx', task='TASK', split=0, store='openset-store')"));
}

TEST_F(BringYourOwn, HeadsNeedNoLibTorch) {
  Put("cloud.npz", MakeCloud(600, 100, 3).Arrays());
  program_.Write("cloud.textproto", kTask);
  program_.Write("study.textproto", absl::StrReplaceAll(kStudy, {{"METHODS", ""}}));
  EXPECT_EQ(program_.Run({"run", "study.textproto", "--worker=/nowhere/worker"}).exit_code, 0);
  program_.Write("study.textproto", absl::StrReplaceAll(kStudy, {{"METHODS", ", \"mcp+features\""}}));
  EXPECT_THAT(program_.Run({"run", "study.textproto", "--worker=/nowhere/worker"}).err,
              HasSubstr("the worker doesn't exist: /nowhere/worker"));
}

TEST_F(BringYourOwn, ImagesAndFeaturesAreNotMixedUp) {
  Put("cloud.npz", MakeCloud(600, 100, 3).Arrays());
  program_.Write("cloud.textproto", kTask);
  program_.Write("study.textproto", absl::StrReplaceAll(kStudy, {{"METHODS", ", \"mcp\""}}));
  EXPECT_THAT(program_.Run({"plan", "study.textproto"}).err,
              HasSubstr("are feature vectors: METHOD+features (mcp+features) trains a head on them"));
  program_.Write("study.textproto", absl::StrReplaceAll(kStudy, {{"METHODS", ", \"cider+features\""}}));
  EXPECT_THAT(program_.Run({"plan", "study.textproto"}).err, HasSubstr("are augmented images"));
  program_.Write("images.textproto",
                 "name: 'images' task: 'fashion_mnist_6_4' method: 'nearest_mean' seed: 0 metric { auroc {} }");
  EXPECT_THAT(program_.Run({"plan", "images.textproto"}).err,
              HasSubstr("is for feature vectors, and the samples of 'fashion_mnist' are images"));
}

// What outputs can't be used for is said before anything runs.
TEST_F(BringYourOwn, OutputsHaveNoValidationSamples) {
  Put("net.npz", OutputsOf(MakeCloud(100, 60, 1)));
  program_.Write("task.textproto", R"(name: "t" data_set: "features:net.npz" test_only: true test_part: "all"
                                      split { known: [0, 1, 2, 3] }
                                      unknown { group: "far" data_set: "features:net.npz" part: "far" })");
  program_.Write("mine.textproto", R"(name: "mine" title: "Mine" reference: "own" model { outputs { file: "net.npz" } }
                                      input {} inference { plain {} } score { max_softmax {} })");
  const std::string study = "name: 's' task: 'task.textproto' method: 'mine.textproto' seed: 0 metric { auroc {} } ";
  program_.Write("s.textproto", study);
  const ProgramResult result = program_.Run({"run", "s.textproto"});
  // The task has the group "far" alone, and the file "near" too.
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(absl::StrCat(result.out, result.err),
              HasSubstr("is of group 'near', and the groups of the task are far"));
  program_.Write("s.textproto", study + "validation_per_class: 5");
  EXPECT_THAT(program_.Run({"plan", "s.textproto"}).err, HasSubstr("validation"));
  program_.Write("mine.textproto", R"(name: "mine" title: "Mine" reference: "own" model { outputs { file: "net.npz" } }
                                      loss { term { cross_entropy {} } } input {} inference { plain {} }
                                      score { max_softmax {} })");
  program_.Write("s.textproto", study);
  EXPECT_THAT(program_.Run({"plan", "s.textproto"}).err,
              HasSubstr("loss: does not go with outputs that were computed elsewhere"));
}

// Ten samples of each patient: their interval is wider than that of as many independent ones.
TEST_F(BringYourOwn, ClustersAreResampledWhole) {
  NpzArrays arrays = OutputsOf(MakeCloud(400, 200, 5));
  Put("alone.npz", arrays);
  std::vector<int64_t> patient;
  for (int64_t i = 0; i < 600; ++i) patient.push_back(i / 40);
  arrays["cluster"] = MakeNpy(patient, {600});
  Put("patients.npz", arrays);
  const auto width = [&](const std::string& file) {
    const ProgramResult result =
        program_.Run({"eval", file, "--score=max_logit", "--metrics=auroc", "--ci", "--format=json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto auroc = nlohmann::json::parse(result.out).at("metrics").at("auroc");
    return auroc.at("high").get<double>() - auroc.at("low").get<double>();
  };
  EXPECT_NE(width("patients.npz"), width("alone.npz"));
  EXPECT_THAT(program_.Run({"eval", "patients.npz", "--metrics=auroc", "--ci"}).out, HasSubstr("of 15 clusters"));
  EXPECT_THAT(program_.Run({"eval", "patients.npz", "--metrics=auroc", "--ci", "--ci_method=delong"}).out,
              HasSubstr("these are in clusters"));
}

}  // namespace
}  // namespace openset

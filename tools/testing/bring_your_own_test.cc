// Outputs and features that were computed elsewhere: `openset score` on files of outputs, and studies of both.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
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
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
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

constexpr char kOutputsMethod[] = R"(
name: "mine" title: "Mine" reference: "own" input {} inference { plain {} } score { knn {} }
)";

class BringYourOwn : public ::testing::Test {
 protected:
  void Put(const std::string& name, const NpzArrays& arrays) {
    ASSERT_TRUE(WriteNpz(program_.folder() + "/" + name, arrays).ok());
  }

  // Writes net.npz, the outputs of the cloud's linear network for the samples that cloud.textproto tests, and the
  // method mine.textproto, which scores them by max_softmax. Returns these samples.
  Cloud PutOutputsOfTask() {
    program_.MustRun({"task", "samples", "cloud.textproto", "--out=samples"});
    NpzArrays tested = *ReadNpz(program_.folder() + "/samples/test.npz");
    Cloud cloud;
    for (const double value : *ToDouble(tested["features"])) cloud.features.push_back(static_cast<float>(value));
    cloud.label = *ToInt64(tested["label"]);
    cloud.group = *ToInt64(tested["group"]);
    NpzArrays outputs = OutputsOf(cloud);
    outputs["group_names"] = tested["group_names"];
    Put("net.npz", outputs);
    program_.Write("mine.textproto", absl::StrReplaceAll(kOutputsMethod, {{"knn", "max_softmax"}}) +
                                         "model { outputs { file: 'net.npz' } }");
    return cloud;
  }

  // The metrics of `openset eval` for the pool.
  std::map<std::string, double> Eval(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"eval", "--format=json", "--metrics=accuracy,auroc,aurc,openauc"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const ProgramResult result = program_.Run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto json = nlohmann::json::parse(result.out);
    std::map<std::string, double> values;
    for (const auto& [name, metric] : json.at("metrics").items()) values[name] = metric.at("value");
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
  const auto means = program_.Means("score_net");
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
  // A synonym means the same metric; a metric that no record has can't tell which method is best.
  const ProgramResult by_synonym = program_.Run({"compare", "score_net", "--metrics=AUC", "--format=json"});
  EXPECT_EQ(nlohmann::json::parse(by_synonym.out).at("comparisons"), rows) << by_synonym.err;
  EXPECT_THAT(program_.Run({"compare", "score_net", "--metrics=early=partial_openauc { max_ofpr: 0.1 }"}).err,
              HasSubstr("--metrics: no record has early, so the best method by it is unknown: name a --baseline"));
  // From another folder, too.
  const OpensetProgram elsewhere("elsewhere");
  EXPECT_THAT(elsewhere.Run({"report", "score_net", "--store=" + program_.store()}).out, HasSubstr("energy_score"));
  // Two networks on the same samples.
  Put("other.npz", OutputsOf(MakeCloud(400, 300, 3)));
  ASSERT_EQ(program_.Run({"score", "--model=other.npz", "--methods=mcp,entropy"}).exit_code, 0);
  const ProgramResult both =
      program_.Run({"compare", "score_other", "score_net", "--methods=mcp", "--metrics=auroc", "--format=json"});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  const nlohmann::json pair = nlohmann::json::parse(both.out).at("comparisons").at(0);
  EXPECT_EQ(std::set<std::string>({pair.at("a"), pair.at("b")}),
            std::set<std::string>({"score_net: mcp", "score_other: mcp"}));
  EXPECT_NEAR(std::abs(pair.at("difference").get<double>()),
              std::abs(means.at("mcp").at("auroc") - program_.Means("score_other").at("mcp").at("auroc")), 1e-12);
  EXPECT_THAT(program_.Run({"compare", "score_net", "--seeds=1"}).err,
              HasSubstr("--seeds: is for a study, not for what 'openset score' measured"));
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

// A network has a class that neither the test nor the fit has. What is fitted to each class does without it.
TEST_F(BringYourOwn, ANetworkMayHaveClassesThatTheTestLacks) {
  for (const auto& [file, unknown, seed] : {std::tuple("net.npz", 300, 1), std::tuple("fit.npz", 0, 2)}) {
    const Cloud all = MakeCloud(400, unknown, seed);
    Cloud some;
    for (int64_t i = 0; i < all.size(); ++i) {
      if (all.label[i] == 2) continue;
      some.features.insert(some.features.end(), &all.features[i * kDim], &all.features[i * kDim] + kDim);
      some.label.push_back(all.label[i]);
      some.group.push_back(all.group[i]);
    }
    Put(file, OutputsOf(some));
  }
  const ProgramResult result =
      program_.Run({"score", "--model=net.npz", "--fit=fit.npz", "--methods=mcp,knn,openmax_closed_set,ghost"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto means = program_.Means("score_net");
  for (const auto& [method, score] : {std::pair{"mcp", "max_softmax"},
                                      {"knn", "knn"},
                                      {"openmax_closed_set", "openmax"},
                                      {"ghost", "ghost { value: QUOTIENT }"}}) {
    EXPECT_EQ(means.at(method).at("auroc"),
              Eval({"net.npz", "--fit=fit.npz", absl::StrCat("--score=", score)}).at("auroc"))
        << method;
  }
}

// The table begins with the best AUROC. A dagger marks it and what `compare` doesn't tell apart from it.
// A method of outputs, and a task with the known test samples and groups of net.npz.
constexpr char kOutputsTask[] = R"(
name: "t" data_set: "features:net.npz" test_only: true test_part: "all"
split { known: [0, 1, 2, 3] }
unknown { group: "near" data_set: "features:net.npz" part: "near" }
unknown { group: "far" data_set: "features:net.npz" part: "far" }
)";

// A record says which file its outputs are, not where it was on the machine.
TEST_F(BringYourOwn, ARecordHasNoPathOfImportedOutputs) {
  Put("net.npz", OutputsOf(MakeCloud(400, 300, 1)));
  program_.Write("arrays/mine.npz", program_.Read("net.npz"));
  program_.Write("tasks/t.textproto",
                 absl::StrReplaceAll(kOutputsTask, {{"features:", absl::StrCat("features:", program_.folder(), "/")}}));
  program_.Write("mine.textproto", absl::StrReplaceAll(kOutputsMethod, {{"knn", "energy"}}) +
                                       "model { outputs { file: 'arrays/mine.npz' } }");
  program_.Write("s.textproto", "name: 's' task: 't' method: 'mine.textproto' seed: 0 metric { auroc {} } ");
  ASSERT_EQ(program_.Run({"run", "s.textproto", "--worker=/nowhere/worker"}).exit_code, 0) << program_.Read("err.txt");
  const std::string id = program_.Records().begin()->first;
  EXPECT_THAT(program_.Run({"records", "show", id}).out,
              AllOf(HasSubstr("file: \"mine.npz\""), Not(HasSubstr("file: \"/"))));
}

// A last output that is large for unknown samples: scores of the classes would take it for confidence.
TEST_F(BringYourOwn, AnOutputForTheUnknownIsNoClass) {
  const Cloud cloud = MakeCloud(200, 120, 1);
  NpzArrays arrays = OutputsOf(cloud);
  std::vector<float> logits;
  for (int64_t i = 0; i < cloud.size(); ++i) {
    for (int64_t c = 0; c < kClasses; ++c) logits.push_back(3 * cloud.features[i * kDim + c]);
    logits.push_back(cloud.label[i] < 0 ? 20.0F : 0.0F);
  }
  arrays["logits"] = MakeNpy(logits, {cloud.size(), kClasses + 1});
  arrays["num_classes"] = MakeNpy(std::vector<int64_t>{kClasses}, {});
  arrays.erase("head_weight");
  arrays.erase("head_bias");
  Put("net.npz", arrays);
  const std::vector<std::string> eval = {"eval", "net.npz", "--score=max_softmax"};
  EXPECT_THAT(program_.Run(eval).err, HasSubstr("hint: the score max_softmax takes each of 5 outputs for a class, and "
                                                "there are 4: a sample looks known if the output for the unknown is"));
  EXPECT_EQ(Eval({"net.npz", "--score=extra_output"}).at("auroc"), 1);
  EXPECT_THAT(program_.Run({"eval", "net.npz", "--score=extra_output"}).err, Not(HasSubstr("takes each of")));

  EXPECT_THAT(program_.Run({"score", "--model=net.npz", "--methods=mcp"}).err,
              HasSubstr("--methods: mcp takes each of 5 outputs for a class"));
  const ProgramResult all = program_.Run({"score", "--model=net.npz", "--fit=net.npz"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("(takes each of 5 outputs for a class"));
  EXPECT_THAT(program_.Run({"report", "score_net"}).out, HasSubstr("(takes each of 5 outputs for a class"));
  const auto scored = program_.Means("score_net");
  EXPECT_EQ(scored.count("knn"), 1);
  EXPECT_EQ(scored.count("mcp"), 0);

  program_.Write("task.textproto", kOutputsTask);
  program_.Write("s.textproto",
                 "name: 's' task: 'task.textproto' method: 'mine.textproto' seed: 0 metric { auroc {} } ");
  const auto write = [&](const std::string& score) {
    program_.Write("mine.textproto",
                   absl::StrReplaceAll(kOutputsMethod, {{"knn", score}}) + "model { outputs { file: 'net.npz' } }");
  };
  write("extra_output");
  const ProgramResult result = program_.Run({"run", "s.textproto"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(program_.Means("s").at("mine").at("auroc"), 1);
  write("max_softmax");
  const ProgramResult refused = program_.Run({"run", "s.textproto"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(absl::StrCat(refused.out, refused.err), HasSubstr("the score takes each of 5 outputs for a class"));
  Put("net.npz", OutputsOf(cloud));
  write("extra_output");
  const ProgramResult without = program_.Run({"run", "s.textproto"});
  EXPECT_THAT(absl::StrCat(without.out, without.err),
              HasSubstr("the score needs an output for the unknown, and there are 4 outputs for 4 classes"));
}

TEST_F(BringYourOwn, TheTableSaysWhichScoreIsBest) {
  Put("net.npz", OutputsOf(MakeCloud(400, 300, 1)));
  Put("fit.npz", OutputsOf(MakeCloud(200, 0, 2)));
  const ProgramResult result = program_.Run({"score", "--model=net.npz", "--fit=fit.npz"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto means = program_.Means("score_net");
  ASSERT_GT(means.size(), 20);
  std::string best;
  for (const auto& [method, values] : means) {
    if (best.empty() || values.at("auroc") > means.at(best).at("auroc")) best = method;
  }
  std::set<std::string> not_told_apart = {best};
  const ProgramResult compared = program_.Run({"compare", "score_net", "--metrics=auroc", "--format=json"});
  const auto comparisons = nlohmann::json::parse(compared.out).at("comparisons");
  for (const nlohmann::json& row : comparisons) {
    if (row.at("test") == "delong" && row.at("p_holm") >= 0.05) not_told_apart.insert(row.at("b"));
  }
  EXPECT_LT(not_told_apart.size(), means.size());
  std::set<std::string> marked;
  const auto report = nlohmann::json::parse(program_.Read("openset-store/reports/score_net/report.json"));
  for (const nlohmann::json& cell : report.at("cells")) {
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

// One file to fit to is of one network, and others are not fitted to it.
TEST_F(BringYourOwn, EachNetworkIsFittedToItsOwnOutputs) {
  for (int seed = 0; seed < 2; ++seed) {
    const float bias = 0.2F * static_cast<float>(seed);
    Put(absl::StrCat("net_", seed, ".npz"), OutputsOf(MakeCloud(100, 60, 10), bias));
    Put(absl::StrCat("fit_", seed, ".npz"), OutputsOf(MakeCloud(120, 0, 11), bias));
  }
  const ProgramResult refused = program_.Run({"score", "--model=net_{seed}.npz", "--fit=fit_0.npz", "--methods=knn"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(absl::StrCat(refused.out, refused.err),
              AllOf(HasSubstr("hint: --fit is one file for the networks of 2 seeds"),
                    HasSubstr("fit_0.npz: its head (head_weight, head_bias) differs from the one in")));
  EXPECT_EQ(program_.Run({"score", "--model=net_{seed}.npz", "--fit=fit_{seed}.npz", "--methods=knn"}).exit_code, 0);
  // In a comparison, each file has its own.
  const std::vector<std::string> compare = {"compare", "net_0.npz", "net_1.npz", "--score=knn", "--metrics=auroc"};
  const auto with_fit = [&](const std::string& fit) {
    std::vector<std::string> words = compare;
    words.push_back(absl::StrCat("--fit=", fit));
    return program_.Run(words);
  };
  EXPECT_EQ(with_fit("fit_0.npz,fit_1.npz").exit_code, 0);
  EXPECT_THAT(with_fit("fit_0.npz").err,
              HasSubstr("score knn: fit_0.npz: its head (head_weight, head_bias) differs from "
                        "the one in net_1.npz: give outputs of the same network"));
  EXPECT_THAT(with_fit("fit_0.npz,fit_1.npz,fit_1.npz").err, HasSubstr("--fit: names 3 files for 2 methods"));
  EXPECT_EQ(program_.Run({"eval", "net_0.npz", "net_1.npz", "--as=methods", "--score=knn", "--fit=fit_0.npz,fit_1.npz"})
                .exit_code,
            0);
  EXPECT_THAT(program_.Run({"threshold", "net_0.npz", "net_1.npz"}).err,
              HasSubstr("net_1.npz: its head (head_weight, head_bias) differs from the one in net_0.npz"));
}

// The guarantee is about new samples.
TEST_F(BringYourOwn, NothingIsGuaranteedForSamplesOfTheFit) {
  Put("val.npz", OutputsOf(MakeCloud(200, 0, 1)));
  Put("copy.npz", OutputsOf(MakeCloud(200, 0, 1)));
  Put("fit.npz", OutputsOf(MakeCloud(200, 0, 2)));
  Put("test.npz", OutputsOf(MakeCloud(200, 100, 3)));
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--score=knn", "--rule=conformal", "--target=0.9"});
    return program_.Run(words);
  };
  constexpr char kShared[] =
      "val.npz: 200 of 200 samples are among those that the score is fitted to, for which the rule";
  EXPECT_THAT(run({"threshold", "val.npz", "test.npz", "--fit=val.npz"}).err, HasSubstr(kShared));
  EXPECT_THAT(run({"threshold", "val.npz", "test.npz", "--fit=copy.npz"}).err, HasSubstr(kShared));
  EXPECT_THAT(run({"detector", "save", "val.npz", "--fit=copy.npz", "--out=d.npz"}).err, HasSubstr(kShared));
  EXPECT_EQ(run({"threshold", "val.npz", "test.npz", "--fit=fit.npz"}).exit_code, 0);
  EXPECT_THAT(
      run({"threshold", "val.npz", "val.npz", "--fit=fit.npz"}).err,
      HasSubstr("val.npz: 200 of 200 samples are also validation samples, on which the threshold is chosen; the "
                "guarantee of conformal is about new ones"));
  // Without a guarantee, a hint.
  const ProgramResult eval = program_.Run({"eval", "test.npz", "--fit=test.npz", "--score=knn"});
  EXPECT_EQ(eval.exit_code, 0);
  EXPECT_THAT(eval.err, HasSubstr("hint: 200 of 300 samples are among those that the score is fitted to"));
  EXPECT_THAT(program_.Run({"eval", "test.npz", "--fit=fit.npz", "--score=knn"}).err,
              Not(HasSubstr("are among those")));
  EXPECT_THAT(program_.Run({"threshold", "val.npz", "val.npz"}).err, HasSubstr("are also validation samples"));
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
  PutOutputsOfTask();
  program_.Write(
      "study.textproto",
      absl::StrReplaceAll(kStudy, {{"METHODS", ", \"mcp+features\", \"knn+features\", \"mine.textproto\""}}));
  const ProgramResult result = program_.Run({"run", "study.textproto"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto means = program_.Means("study");
  ASSERT_EQ(means.size(), 5);
  for (const auto& [metric, value] : Eval({"net.npz", "--score=max_softmax"})) {
    if (means.at("mine").count(metric) > 0) {
      EXPECT_EQ(means.at("mine").at(metric), value) << metric;
    }
  }
  for (const auto& [method, values] : means) {
    // The classes are 4.2 standard deviations apart: two of them are confused in 1.7 % of all samples, four in less
    // than 5.2 %; 15 % of 120 test samples is 5 standard deviations above that.
    EXPECT_GT(values.at("accuracy"), 0.85) << method;
    EXPECT_GT(values.at("auroc"), 0.7) << method;
  }
  EXPECT_THAT(result.out, AllOf(HasSubstr("near"), HasSubstr("far")));
  EXPECT_THAT(program_.Run({"run", "study.textproto"}).exit_code, 0);
  const ProgramResult compared = program_.Run({"compare", "study", "--baseline=mine", "--metrics=auroc"});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  for (const char* other : {"logistic_regression", "nearest_mean", "mcp+features", "knn+features"}) {
    EXPECT_THAT(compared.out, HasSubstr(other));
  }
}

// Outputs have the rows of shifted groups last. The group here lacks the first class, so that its class c has the label
// c + 1.
TEST_F(BringYourOwn, ShiftedSamplesAreKnownOnes) {
  const auto put = [&](const std::string& file, const Cloud& cloud) {
    NpzArrays arrays = cloud.Arrays();
    std::vector<std::string> label;
    for (const int64_t one : cloud.label) label.push_back(one < 0 ? "" : std::string(1, static_cast<char>('a' + one)));
    arrays["label"] = MakeNpy(label);
    Put(file, arrays);
  };
  put("cloud.npz", MakeCloud(200, 100, 3));
  const Cloud all = MakeCloud(80, 0, 4);
  Cloud some;
  for (int64_t i = 0; i < all.size(); ++i) {
    if (all.label[i] == 0) continue;
    some.features.insert(some.features.end(), &all.features[i * kDim], &all.features[i * kDim] + kDim);
    some.label.push_back(all.label[i]);
    some.group.push_back(-1);
  }
  put("noisy.npz", some);
  program_.Write("cloud.textproto",
                 absl::StrCat(kTask, "shifted { group: 'noisy' data_set: 'features:noisy.npz' part: 'all' }"));
  const Cloud cloud = PutOutputsOfTask();
  program_.Write("study.textproto", absl::StrReplaceAll(kStudy, {{"METHODS", ", \"mine.textproto\""}}));
  const ProgramResult result = program_.Run({"run", "study.textproto"});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(program_.Means("study").at("mine").at("auroc"), Eval({"net.npz", "--score=max_softmax"}).at("auroc"));
  const Store store(program_.store());
  int measured = 0;
  for (const auto& [id, text] : program_.Records()) {
    const std::string key = store.LoadRecord(id).value().outputs_key();
    const NpzArrays stored =
        *ReadNpz(absl::StrCat(program_.store(), "/outputs/", key.substr(0, 2), "/", key, "/outputs.npz"));
    const std::vector<int64_t> label = *ToInt64(stored.at("label")), class_id = *ToInt64(stored.at("class_id"));
    ASSERT_EQ(label, cloud.label);
    for (size_t i = label.size() - 60; i < label.size(); ++i) {
      EXPECT_GE(label[i], 1);
      EXPECT_EQ(class_id[i], label[i] - 1);
    }
    ++measured;
  }
  EXPECT_EQ(measured, 6);
  // Without them, the last of the known samples would be taken for them.
  Put("net.npz", OutputsOf(MakeCloud(40, 100, 3)));
  const ProgramResult none = program_.Run({"run", "study.textproto"});
  EXPECT_THAT(absl::StrCat(none.out, none.err),
              HasSubstr("has 40 known samples, and the task's shifted groups have 60"));
  Put("net.npz", OutputsOf(MakeCloud(64, 100, 3)));
  const ProgramResult few = program_.Run({"run", "study.textproto"});
  EXPECT_THAT(absl::StrCat(few.out, few.err),
              HasSubstr("has 4 known samples without those of shifted groups, and the task's split has 40 to test on"));
}

// A network of openset's own, trained on images, beside outputs for the same images.
TEST_F(BringYourOwn, OutputsStandBesideATrainedNetwork) {
  program_.Write("catalog/tiny.textproto", R"(
name: "tiny" class_name: ["a", "b", "c"] channels: 1 height: 32 width: 32
layout {
  part { name: "train" samples: 60 samples_per_class: 20 npz { images { path: "train.npz" } } }
  part { name: "test" samples: 60 samples_per_class: 20 npz { images { path: "test.npz" } } }
}
)");
  program_.Write("tiny_task.textproto", "name: 'tiny_task' data_set: 'tiny' split { known: [0, 1] unknown: 2 }");
  for (const char* part : {"train", "test"}) {
    RandomStream random(part[1], "images");
    std::string images = FormatNpyHeader("|u1", {60, 32, 32});
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < 60; ++i) {
      labels.push_back(i % 3);
      for (int64_t p = 0; p < 32 * 32; ++p) images.push_back(static_cast<char>(80 * (i % 3) + random.Below(60)));
    }
    Put(absl::StrCat(part, ".npz"), {{"images", *ParseOwnedNpy(images)}, {"labels", MakeNpy(labels, {60})}});
  }
  ASSERT_EQ(setenv("OPENSET_LIBRARY", program_.folder().c_str(), 1), 0);
  ASSERT_EQ(setenv("OPENSET_DATA", program_.folder().c_str(), 1), 0);
  ASSERT_EQ(program_.Run({"task", "samples", "tiny_task.textproto", "--out=samples"}).exit_code, 0);
  NpzArrays tested = *ReadNpz(program_.folder() + "/samples/test.npz");
  const std::vector<int64_t> label = *ToInt64(tested["label"]);
  const std::vector<double> pixels = *ToDouble(tested["images"]);
  // Ten times the distance of the image's mean from the mean of a class, negated: unknown images are 80 from the
  // nearest.
  std::vector<float> logits;
  for (size_t i = 0; i < label.size(); ++i) {
    double mean = 0;
    for (size_t p = 0; p < 1024; ++p) mean += pixels[i * 1024 + p] / 1024;
    for (const double centre : {30.0, 110.0}) logits.push_back(static_cast<float>(-std::abs(mean - centre) / 10));
  }
  const auto rows = static_cast<int64_t>(label.size());
  Put("net.npz", {{"logits", MakeNpy(logits, {rows, 2})}, {"label", MakeNpy(label, {rows})}});
  program_.Write("mine.textproto",
                 absl::StrReplaceAll(kOutputsMethod, {{"knn", "energy"}}) + "model { outputs { file: 'net.npz' } }");
  program_.Write(
      "study.textproto",
      "name: 'study' question: '?' task: 'tiny_task.textproto' method: ['mcp', 'mine.textproto'] seed: [0, 1] "
      "override { input { size: 32 channels: 1 mean: 0.5 std: 0.25 } training { epochs: 1 batch_size: 16 } } "
      "metric { accuracy {} } metric { auroc {} }");
  const ProgramResult result = program_.Run({"run", "study.textproto"});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  const auto means = program_.Means("study");
  ASSERT_EQ(means.size(), 2);
  EXPECT_EQ(means.at("mine").at("accuracy"), 1);
  EXPECT_EQ(means.at("mine").at("auroc"), 1);
  const ProgramResult compared = program_.Run({"compare", "study", "--metrics=auroc"});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, AllOf(HasSubstr("mcp"), HasSubstr("mine")));
  unsetenv("OPENSET_LIBRARY");
  unsetenv("OPENSET_DATA");
}

TEST_F(BringYourOwn, NetworksThatPythonRunsAreSentThere) {
  EXPECT_THAT(program_.Run({"score", "--model=net.onnx"}).err,
              HasSubstr("in Python, openset.collect('net.onnx', task='TASK', split=0, store='openset-store')"));
  // The call has the input that was given.
  EXPECT_THAT(program_
                  .Run({"score", "--model=net.onnx", "--task=mine", "--size=32", "--channels=3", "--mean=0.5,0.25,0.1",
                        "--std=0.2", "--fit_part=few"})
                  .err,
              HasSubstr("openset.collect('net.onnx', task='mine', split=0, size=32, channels=3, mean=[0.5, 0.25, 0.1], "
                        "std=[0.2], fit_part='few', store='openset-store')"));
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
TEST_F(BringYourOwn, OutputsThatDoNotFitAreRefused) {
  Put("net.npz", OutputsOf(MakeCloud(100, 60, 1)));
  program_.Write("task.textproto", absl::StrReplaceAll(kOutputsTask, {{"group: \"near\"", "group: \"other\""}}));
  const std::string method = absl::StrReplaceAll(kOutputsMethod, {{"knn", "max_softmax"}});
  program_.Write("mine.textproto", method + "model { outputs { file: 'net.npz' } }");
  program_.Write("s.textproto",
                 "name: 's' task: 'task.textproto' method: 'mine.textproto' seed: 0 metric { auroc {} } ");
  const ProgramResult result = program_.Run({"run", "s.textproto"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(absl::StrCat(result.out, result.err),
              HasSubstr("is of group 'near', and the groups of the task are other, far"));
  program_.Write("mine.textproto", method + "model { outputs { file: 'net.npz' } } loss { term { cross_entropy {} } }");
  EXPECT_THAT(program_.Run({"plan", "s.textproto"}).err,
              HasSubstr("loss: does not go with outputs that were computed elsewhere"));
}

// A search over scores chooses what `openset eval` finds best on the validation outputs, and measures it on the test
// outputs.
TEST_F(BringYourOwn, SearchesChooseByValidationOutputs) {
  for (int seed = 0; seed < 2; ++seed) {
    Put(absl::StrCat("net_", seed, ".npz"), OutputsOf(MakeCloud(200, 120, 31), 0.2F * static_cast<float>(seed)));
    Put(absl::StrCat("val_", seed, ".npz"), OutputsOf(MakeCloud(80, 60, 32), 0.2F * static_cast<float>(seed)));
    Put(absl::StrCat("fit_", seed, ".npz"), OutputsOf(MakeCloud(120, 0, 33), 0.2F * static_cast<float>(seed)));
  }
  Put("fit.npz", OutputsOf(MakeCloud(120, 0, 33)));
  Put("net.npz", OutputsOf(MakeCloud(200, 120, 31)));
  program_.Write("task.textproto", kOutputsTask);
  program_.Write("mine.textproto",
                 absl::StrCat(kOutputsMethod, "model { outputs { file: 'net_{seed}.npz' fit_file: 'fit_{seed}.npz'",
                              " validation_file: 'val_{seed}.npz' } }"));
  const std::map<std::string, std::string> scores = {{"max_softmax {}", "max_softmax"},
                                                     {"knn { k: 1 }", "knn { k: 1 }"},
                                                     {"knn { k: 20 }", "knn { k: 20 }"},
                                                     {"max_logit {}", "max_logit"}};
  std::string study = R"(name: "s" task: "task.textproto" method: "mine.textproto" seed: [0, 1]
                         metric { accuracy {} } metric { auroc {} } metric { aurc {} } metric { openauc {} }
                         search { method: "mine" criterion { auroc {} } axis { path: "score")";
  for (const auto& [value, score] : scores) absl::StrAppend(&study, " value: '", value, "'");
  program_.Write("s.textproto", study + " } }");
  const ProgramResult result = program_.Run({"run", "s.textproto", "--worker=/nowhere/worker"});
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;

  std::map<uint64_t, std::string> best;
  for (int seed = 0; seed < 2; ++seed) {
    double highest = 0;
    for (const auto& [value, score] : scores) {
      const double auroc = Eval({absl::StrCat("val_", seed, ".npz"), absl::StrCat("--fit=fit_", seed, ".npz"),
                                 absl::StrCat("--score=", score)})
                               .at("auroc");
      if (auroc > highest) highest = auroc, best[seed] = score;
    }
  }
  int tuned = 0;
  const Store store(program_.store());
  for (const auto& [id, text] : program_.Records()) {
    const TrialRecord record = store.LoadRecord(id).value();
    if (!record.trial().has_search()) continue;
    ++tuned;
    const int seed = static_cast<int>(record.trial().seed());
    const SearchLog& log = record.trial().search();
    ASSERT_EQ(log.candidate_size(), 4);
    int c = 0;
    for (const auto& [value, score] : scores) {  // the grid's order is the map's
      EXPECT_EQ(log.candidate(c++).value(),
                Eval({absl::StrCat("val_", seed, ".npz"), absl::StrCat("--fit=fit_", seed, ".npz"),
                      absl::StrCat("--score=", score)})
                    .at("auroc"))
          << score;
    }
    const auto expected = Eval({absl::StrCat("net_", seed, ".npz"), absl::StrCat("--fit=fit_", seed, ".npz"),
                                absl::StrCat("--score=", best[seed])});
    std::map<std::string, double> measured;
    for (const MetricRecord& metric : record.metric()) {
      if (metric.group().kind() == MetricGroup::POOL || !metric.has_group()) measured[metric.name()] = metric.value();
    }
    for (const auto& [name, value] : expected) EXPECT_EQ(measured.at(name), value) << name;
  }
  EXPECT_EQ(tuned, 2);

  // What is missing is said before anything runs.
  program_.Write("mine.textproto",
                 absl::StrCat(kOutputsMethod, "model { outputs { file: 'net_{seed}.npz' fit_file: 'fit.npz' } }"));
  EXPECT_THAT(program_.Run({"plan", "s.textproto"}).err,
              AllOf(HasSubstr("s.textproto:3: search[0].method[0]: "), HasSubstr("set model.outputs.validation_file")));
  const auto with_validation = [&](const std::string& file) {
    program_.Write("mine.textproto", absl::StrCat(kOutputsMethod, "model { outputs { file: 'net_{seed}.npz' ",
                                                  "fit_file: 'fit.npz' validation_file: '", file, "' } }"));
    return program_.Run({"run", "s.textproto"}).err;
  };
  EXPECT_THAT(with_validation("no_{seed}.npz"), HasSubstr("no_0.npz"));
  EXPECT_THAT(with_validation("val.csv"), HasSubstr("model.outputs.validation_file: must be an .npz"));
  Put("known.npz", OutputsOf(MakeCloud(80, 0, 32)));
  EXPECT_THAT(with_validation("known.npz"),
              AllOf(HasSubstr("auroc needs unknown samples"), HasSubstr("known.npz has none")));
  NpzArrays three = OutputsOf(MakeCloud(80, 60, 32));
  three["num_classes"] = MakeNpy(std::vector<int64_t>{5}, {});
  Put("classes.npz", three);
  EXPECT_NE(with_validation("classes.npz"), "");
}

// The content of a file of features identifies it, not its place.
TEST_F(BringYourOwn, FilesMayBeMoved) {
  Put("cloud.npz", MakeCloud(200, 100, 3).Arrays());
  program_.Write("cloud.textproto", kTask);
  const std::string study = absl::StrReplaceAll(kStudy, {{"METHODS", ""}});
  program_.Write("study.textproto", study);
  ASSERT_EQ(program_.Run({"run", "study.textproto"}).exit_code, 0);
  const auto ids = [&] {
    std::set<std::string> ids;
    for (const auto& [id, text] : program_.Records()) ids.insert(id);
    return ids;
  };
  const std::set<std::string> before = ids();
  ASSERT_EQ(before.size(), 4);
  program_.Write("moved/here", "");
  ASSERT_EQ(rename((program_.folder() + "/cloud.npz").c_str(), (program_.folder() + "/moved/renamed.npz").c_str()), 0);
  program_.Write("cloud.textproto", absl::StrReplaceAll(kTask, {{"cloud.npz", "moved/renamed.npz"}}));
  ASSERT_EQ(program_.Run({"run", "study.textproto"}).exit_code, 0);
  EXPECT_EQ(ids(), before);
  // Drawn splits are the same as well.
  const auto splits = [&](const std::string& file) {
    program_.Write("drawn.textproto", absl::StrCat("name: 'drawn' data_set: 'features:", file,
                                                   "' drawn { level { known: 2 unknown: 2 } repeats: 4 }"));
    return program_.Run({"task", "splits", "drawn.textproto"}).out;
  };
  Put("copy.npz", MakeCloud(200, 100, 3).Arrays());
  const std::string of_copy = splits("copy.npz");
  EXPECT_THAT(of_copy, HasSubstr("split 3: "));
  EXPECT_EQ(splits("moved/renamed.npz"), of_copy);
  // One that the heads are fitted to anew, from its new place.
  program_.Write("study.textproto", absl::StrReplaceAll(study, {{"seed: [0, 1]", "seed: 2"}}));
  ASSERT_EQ(program_.Run({"run", "study.textproto"}).exit_code, 0);
  EXPECT_EQ(ids().size(), 6);
  // Another content is another data set.
  Put("moved/renamed.npz", MakeCloud(200, 100, 4).Arrays());
  ASSERT_EQ(program_.Run({"run", "study.textproto"}).exit_code, 0);
  EXPECT_EQ(ids().size(), 8);
}

// Ten samples of each patient: their interval is wider than with as many independent samples.
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

// The record's interval is `openset eval`'s on the stored outputs, which have the clusters of the samples.
TEST_F(BringYourOwn, HeadsAreMeasuredOnWholeClusters) {
  NpzArrays arrays = MakeCloud(400, 100, 3).Arrays();
  std::vector<int64_t> patient;
  for (int64_t i = 0; i < 500; ++i) patient.push_back(i / 20);
  arrays["cluster"] = MakeNpy(patient, {500});
  Put("cloud.npz", arrays);
  program_.Write("cloud.textproto", kTask);
  program_.Write(
      "study.textproto",
      absl::StrReplaceAll(kStudy, {{"METHODS", ""},
                                   {"seed: [0, 1]", "seed: 0"},
                                   {"metric { auroc {} }", "metric { auroc {} interval { replicates: 200 } }"}}));
  const ProgramResult run = program_.Run({"run", "study.textproto"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Store store(program_.store());
  std::set<int64_t> tested;
  int compared = 0;
  for (const auto& [id, text] : program_.Records()) {
    const TrialRecord record = store.LoadRecord(id).value();
    const std::string outputs = absl::StrCat(program_.store(), "/outputs/", record.outputs_key().substr(0, 2), "/",
                                             record.outputs_key(), "/outputs.npz");
    const std::vector<int64_t> clusters = *ToInt64(ReadNpz(outputs)->at("cluster"));
    tested.insert(clusters.begin(), clusters.end());
    const ProgramResult eval = program_.Run({"eval", outputs, "--score=max_softmax", "--metrics=auroc", "--ci",
                                             "--replicates=200", "--seed=0", "--format=json"});
    ASSERT_EQ(eval.exit_code, 0) << eval.err;
    const auto expected = nlohmann::json::parse(eval.out).at("metrics").at("auroc");
    const MetricRecord& auroc = record.metric(1);
    ASSERT_EQ(auroc.name(), "auroc");
    if (expected.at("value") != auroc.value()) continue;  // nearest_mean's, which has another score
    ++compared;
    EXPECT_EQ(auroc.interval().low(), expected.at("low"));
    EXPECT_EQ(auroc.interval().high(), expected.at("high"));
  }
  EXPECT_EQ(compared, 1);
  // 80 test samples or more in clusters of 20, each of all classes, and five clusters of unknown samples.
  EXPECT_THAT(tested.size(), ::testing::AllOf(::testing::Ge(9), ::testing::Le(25)));
  EXPECT_THAT(program_.Run({"compare", "study"}).out,
              HasSubstr(absl::StrCat("replicates of ", tested.size(), " clusters, seed 0)")));
}

// A file of outputs without clusters, for samples that have them.
TEST_F(BringYourOwn, OutputsHaveTheClustersOfTheTask) {
  NpzArrays arrays = OutputsOf(MakeCloud(80, 60, 5));
  Put("net.npz", arrays);
  std::vector<int64_t> patient;
  for (int64_t i = 0; i < 140; ++i) patient.push_back(i / 10);
  arrays["cluster"] = MakeNpy(patient, {140});
  Put("patients.npz", arrays);
  program_.Write("task.textproto", absl::StrReplaceAll(kOutputsTask, {{"net.npz", "patients.npz"}}));
  for (const auto& [name, score] : {std::pair{"mine", "energy"}, {"other", "max_logit"}}) {
    program_.Write(absl::StrCat(name, ".textproto"),
                   absl::StrReplaceAll(kOutputsMethod, {{"\"mine\"", absl::StrCat("'", name, "'")}, {"knn", score}}) +
                       "model { outputs { file: 'net.npz' } }");
  }
  program_.Write("s.textproto",
                 "name: 's' task: 'task.textproto' method: ['mine.textproto', 'other.textproto'] seed: 0 "
                 "metric { auroc {} } ");
  const ProgramResult run = program_.Run({"run", "s.textproto"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(program_.Run({"compare", "s.textproto"}).out, HasSubstr("replicates of 14 clusters, seed 0)"));
}

// Two frames of each of 60 scenes: `data audit` finds them, and its file can be used as the one before.
TEST_F(BringYourOwn, AuditProposesClusters) {
  const Cloud scenes = MakeCloud(40, 20, 8);
  Cloud frames = scenes;
  RandomStream random(9, "frames");
  for (const float value : scenes.features)
    frames.features.push_back(value + 0.01F * static_cast<float>(random.Normal()));
  frames.label.insert(frames.label.end(), scenes.label.begin(), scenes.label.end());
  frames.group.insert(frames.group.end(), scenes.group.begin(), scenes.group.end());
  Put("frames.npz", OutputsOf(frames));
  const ProgramResult audit =
      program_.Run({"data", "audit", "features:frames.npz", "--clusters=clusters.npz", "--similarity=0.9999"});
  ASSERT_EQ(audit.exit_code, 0) << audit.err;
  EXPECT_THAT(audit.out, AllOf(HasSubstr("120 feature vectors of 6 numbers"), HasSubstr("the largest has 2")));
  const auto arrays = ReadNpz(program_.folder() + "/clusters.npz");
  ASSERT_TRUE(arrays.ok());
  const std::vector<int64_t> cluster = ToInt64(arrays->at("cluster")).value();
  ASSERT_EQ(cluster.size(), 120);
  int found = 0;
  for (int64_t i = 0; i < 60; ++i) {
    EXPECT_EQ(cluster[i], i);
    found += cluster[60 + i] == i ? 1 : 0;
  }
  // Noise of 0.01 in 5 directions turns a vector of length r by a cosine below 0.9999 if it is longer than 0.0141 r:
  // never for r above 3, where it would be 4.2 standard deviations.
  EXPECT_GE(found, 50);
  EXPECT_THAT(program_.Run({"eval", "clusters.npz", "--metrics=auroc", "--ci"}).out,
              HasSubstr(absl::StrCat("of ", 120 - found, " clusters")));
  EXPECT_THAT(program_.Run({"data", "audit", "features:frames.npz"}).out, HasSubstr("--clusters=FILE writes"));
  for (const auto& [flag, message] : {std::pair{"--clusters=c.csv", "--clusters: must end in .npz"},
                                      {"--similarity=1.5", "--similarity: must be above 0 and at most 1"},
                                      {"--clusters=frames.npz", "--clusters: is the audited file"}}) {
    const ProgramResult refused = program_.Run({"data", "audit", "features:frames.npz", flag});
    EXPECT_EQ(refused.exit_code, 2) << flag;
    EXPECT_THAT(refused.err, HasSubstr(message));
  }
  EXPECT_THAT(program_.Run({"data", "audit", "features:none.npz"}).err, HasSubstr("none.npz"));
  EXPECT_THAT(program_.Run({"data", "show", "features:frames.npz"}).err, HasSubstr("feature vectors, not images"));
}

// ---- The pages' blocks, pasted.

// The blocks of a page: indented lines between empty ones.
std::vector<std::string> BlocksOf(const std::string& page) {
  std::vector<std::string> blocks;
  std::string text;
  for (const absl::string_view line : absl::StrSplit(page, '\n')) {
    if (absl::StartsWith(line, "    ")) {
      absl::StrAppend(&text, line.substr(4), "\n");
      continue;
    }
    if (!text.empty()) blocks.push_back(text);
    text.clear();
  }
  return blocks;
}

class PageBlocks : public BringYourOwn {
 protected:
  // Writes the files and runs the commands of a page, in order; returns how many of both.
  std::pair<int, int> Paste(const std::string& page) {
    int files = 0, commands = 0;
    for (const std::string& block : BlocksOf(program_.Shipped(absl::StrCat("docs/", page)))) {
      const std::vector<std::string> lines = absl::StrSplit(block, '\n', absl::SkipEmpty());
      if (absl::StartsWith(lines[0], "# ") && absl::EndsWith(lines[0], ".textproto")) {
        program_.Write(lines[0].substr(2), block);
        ++files;
      }
      if (!absl::StartsWith(lines[0], "openset ")) continue;
      for (const std::string& line : lines) {
        std::vector<std::string> words = absl::StrSplit(absl::StrReplaceAll(line, {{"'", ""}}), ' ', absl::SkipEmpty());
        words.erase(words.begin());
        const ProgramResult result = program_.Run(words);
        EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.out << result.err;
        out_[line] = result.out;
        ++commands;
      }
    }
    return {files, commands};
  }

  std::map<std::string, std::string> out_;  // of each command
};

// The study of docs/studies.md and the commands on it, planned instead of run.
TEST_F(PageBlocks, Studies) {
  const std::vector<std::string> blocks = BlocksOf(program_.Shipped("docs/studies.md"));
  program_.Write("lambda.textproto", blocks.at(0));
  int commands = 0;
  for (const std::string& block : blocks) {
    for (const std::string& line : std::vector<std::string>(absl::StrSplit(block, '\n', absl::SkipEmpty()))) {
      if (!absl::StartsWith(line, "openset run lambda ")) continue;
      // 'auroc: 1.0 max_seeds: 3' is one word.
      std::vector<std::string> words;
      const std::vector<std::string> quoted = absl::StrSplit(line, '\'');
      for (size_t q = 0; q < quoted.size(); ++q) {
        const std::vector<std::string> parts = absl::StrSplit(quoted[q], ' ', absl::SkipEmpty());
        if (q % 2 == 0) words.insert(words.end(), parts.begin(), parts.end());
        if (q % 2 == 1) words.back() += quoted[q];
      }
      words.erase(words.begin());
      words[0] = "plan";
      words.push_back("--noprobe");
      const ProgramResult result = program_.Run(words);
      EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.err;
      if (commands++ > 0) continue;
      // --methods=openauc: the study's openauc+laptop, with 3 values of lambda, 5 splits and 5 seeds.
      EXPECT_THAT(result.out, AllOf(HasSubstr("75 trials"), HasSubstr("openauc+laptop"), Not(HasSubstr("softmax"))));
    }
  }
  EXPECT_EQ(commands, 2);
}

TEST_F(PageBlocks, BringYourOwn) {
  Put("net.npz", OutputsOf(MakeCloud(400, 300, 1)));
  Put("fit.npz", OutputsOf(MakeCloud(200, 0, 2)));
  Put("validation.npz", OutputsOf(MakeCloud(80, 60, 3)));
  program_.Write("runs/made", "");
  for (int split = 0; split < 3; ++split) {
    for (int seed = 0; seed < 2; ++seed) {
      Put(absl::StrCat("runs/fit_", split, "_", seed, ".npz"),
          OutputsOf(MakeCloud(200, 0, 20 + split), 0.1F * static_cast<float>(seed)));
      Put(absl::StrCat("runs/resnet_", split, "_", seed, ".npz"),
          OutputsOf(MakeCloud(100, 60, 10 + split), 0.1F * static_cast<float>(seed)));
    }
  }
  // Ten classes of 40 samples.
  RandomStream random(5, "clip");
  std::vector<float> features;
  std::vector<int64_t> label;
  for (int64_t i = 0; i < 400; ++i) {
    label.push_back(i % 10);
    for (int64_t d = 0; d < 12; ++d) features.push_back(static_cast<float>(random.Normal() + (d == i % 10 ? 4 : 0)));
  }
  Put("clip.npz", {{"features", MakeNpy(features, {400, 12})}, {"label", MakeNpy(label, {400})}});
  EXPECT_EQ(Paste("bring_your_own.md"), (std::pair{5, 6}));
  EXPECT_THAT(out_["openset run net_study.textproto"], HasSubstr("net (tuned)"));
  EXPECT_THAT(out_["openset run heads.textproto"], AllOf(HasSubstr("arpl+features"), HasSubstr("nearest_mean")));
}

TEST_F(PageBlocks, ComingFrom) {
  for (const auto& [name, seed] : {std::pair{"cifar10", 1}, {"cifar100", 2}, {"svhn", 3}}) {
    const bool is_known = seed == 1;
    RandomStream random(seed, name);
    std::vector<double> conf;
    std::vector<int64_t> pred, label;
    for (int64_t i = 0; i < 90; ++i) {
      label.push_back(is_known ? i % 10 : -1);
      pred.push_back(i % (is_known && i % 7 > 0 ? 10 : 9));
      conf.push_back(random.Normal() + (is_known ? 1 : 0));
    }
    program_.Write("scores/made", "");
    Put(absl::StrCat("scores/", name, ".npz"),
        {{"conf", MakeNpy(conf, {90})}, {"pred", MakeNpy(pred, {90})}, {"label", MakeNpy(label, {90})}});
  }
  EXPECT_EQ(Paste("coming_from.md"), (std::pair{0, 2}));
  for (const auto& [block, out] : out_) EXPECT_THAT(out, AllOf(HasSubstr("cifar100"), HasSubstr("svhn")));
}

}  // namespace
}  // namespace openset

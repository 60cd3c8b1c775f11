// `openset score` on a network that PyTorch trained on real Fashion-MNIST images (tools/peers/make_fashion_network.py).
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/model.pb.h"
#include "nlohmann/json.hpp"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string TestFile(const std::string& name) {
  return *ReadFile(JoinPath(*RunfilesFolder(), "openset/tools/testing/testdata/" + name));
}

// The command "score" with the network, its input and its task, and `more`.
std::vector<std::string> Words(const std::vector<std::string>& more, const std::string& model = "net.pt") {
  std::vector<std::string> words = {
      "score",        "--model=" + model, "--task=fashion_mnist_6_4", "--split=0",       "--size=28", "--channels=1",
      "--mean=0.286", "--std=0.353",      "--test_limit=50",          "--train_limit=50"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Score, EveryScoreOfATorchScriptNetwork) {
  const OpensetProgram program;
  program.Write("net.pt", TestFile("fashion_network.pt"));
  const ProgramResult result = program.Run(Words({"--head=head"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(absl::StrReplaceAll(result.out, {{"\n  ", " "}}),  // its lines are wrapped
              AllOf(HasSubstr("is trained with its own loss"), HasSubstr("needs several trainings"),
                    HasSubstr("left out: mc_dropout, mc_dropout_expected_entropy, mc_dropout_mutual_information, "
                              "mc_dropout_variation_ratio (dropout inside a script can't be switched on)"),
                    HasSubstr("0 trainings, 1 import of a model")));

  const auto means = program.Means("score_net");
  EXPECT_EQ(program.Records().size(), means.size());
  for (const char* method : {"adascale_a", "ash",         "dice",  "fdbd",    "gen",  "gradnorm",  "klm",
                             "knn",        "mahalanobis", "nci",   "nnguide", "odin", "openmax",   "react",
                             "relation",   "residual",    "scale", "she",     "vim",  "weiper_kld"}) {
    EXPECT_EQ(means.count(method), 1) << method;
  }
  EXPECT_EQ(means.count("arpl") + means.count("softmax"), 0);
  for (const auto& [method, values] : means) {
    EXPECT_EQ(values.size(), 6) << method;  // accuracy, auroc, aupr_unknown, fpr_at_95tpr, aurc, openauc
  }
  // PyTorch's and scikit-learn's values.
  const auto golden = nlohmann::json::parse(TestFile("fashion_network.json"));
  EXPECT_NEAR(means.at("mcp").at("accuracy"), golden.at("accuracy"), 1e-12);
  for (const char* method : {"mcp", "max_logit", "energy_score"}) {
    for (const char* metric : {"auroc", "aupr_unknown"}) {
      EXPECT_NEAR(means.at(method).at(metric), golden.at(method).at(metric), 1e-4) << method << " " << metric;
    }
  }

  const ProgramResult again = program.Run(Words({"--head=head"}));
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.out, HasSubstr("trials are done; nothing to run"));
}

TEST(Score, LogitsAreEnoughForSome) {
  const OpensetProgram program;
  program.Write("net.pt", TestFile("fashion_network.pt"));
  const ProgramResult result = program.Run(Words({"--methods=mcp,openmax"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(program.Means("score_net").size(), 2);
  EXPECT_THAT(result.out, HasSubstr("input: 28 x 28 pixels, 1 channel, mean 0.286, std 0.353\n"));
  EXPECT_THAT(result.err, Not(HasSubstr("the defaults are used")));
  const ProgramResult defaults = program.Run({"score", "--model=net.pt", "--task=fashion_mnist_6_4", "--split=0",
                                              "--size=28", "--test_limit=1", "--methods=mcp", "--store=other"});
  EXPECT_THAT(defaults.err, HasSubstr("hint: without --channels, --mean, --std, the defaults are used"));
  const ProgramResult knn = program.Run(Words({"--methods=mcp,knn"}));
  EXPECT_EQ(knn.exit_code, 2);
  EXPECT_THAT(knn.err, HasSubstr("--methods: knn needs features: name the last linear module"));

  // All forms of a report work on its results, by name.
  for (const char* format : {"text", "markdown", "latex", "csv", "json", "html"}) {
    const ProgramResult report = program.Run({"report", "score_net", absl::StrCat("--format=", format)});
    EXPECT_EQ(report.exit_code, 0) << format << ": " << report.err;
    // LaTeX has the methods' titles.
    EXPECT_THAT(report.out, HasSubstr(format == std::string("latex") ? "OpenMax" : "openmax")) << format;
  }
  EXPECT_THAT(program.Run({"report", "score_net", "--format=csv", "--tidy"}).out, HasSubstr("openmax"));
  EXPECT_THAT(program.Run({"status", "score_net"}).out, HasSubstr("2 of 2 trials done"));
  // Another model can't use its name.
  program.Write("other/net.pt", TestFile("fashion_network.pt"));
  const ProgramResult other = program.Run(Words({"--methods=mcp"}, "other/net.pt"));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("has results of another model under 'score_net'"), HasSubstr("--name=NAME")));
  // Unless it has its own.
  const ProgramResult named = program.Run(Words({"--methods=mcp", "--name=second"}, "other/net.pt"));
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_THAT(program.Run({"report", "score_second"}).out, HasSubstr("\nmcp"));
  EXPECT_THAT(program.Run({"report", "score_net"}).out, HasSubstr("\nopenmax"));
  EXPECT_THAT(program.Run(Words({"--methods=mcp", "--name=a/b"}, "other/net.pt")).err, HasSubstr("--name: "));
  // A model that can't be imported gives one line.
  program.Write("bad.pt", "no network");
  const ProgramResult bad = program.Run(Words({"--methods=mcp"}, "bad.pt"));
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, StartsWith("openset: the model: "));
}

// The report has all scores of the network, and failures don't change it.
TEST(Score, AReportGrows) {
  const OpensetProgram program;
  program.Write("net.pt", TestFile("fashion_network.pt"));
  ASSERT_EQ(program.Run(Words({"--methods=mcp,max_logit"})).exit_code, 0);
  const ProgramResult more = program.Run(Words({"--methods=energy_score,mcp"}));
  ASSERT_EQ(more.exit_code, 0) << more.err;
  EXPECT_THAT(more.out, AllOf(HasSubstr("\nmax_logit"), HasSubstr("\nenergy_score"), HasSubstr("\nmcp")));
  EXPECT_EQ(program.Means("score_net").size(), 3);
  EXPECT_THAT(program.Run({"report", "score_net"}).out, HasSubstr("\nmax_logit"));
  // A run that fails, because its file is no longer a network.
  const std::string before = program.Read("openset-store/reports/score_net/report.txt");
  program.Write("net.pt", "no network");
  EXPECT_EQ(program.Run(Words({"--methods=mcp"})).exit_code, 2);
  EXPECT_EQ(program.Read("openset-store/reports/score_net/report.txt"), before);
  program.Write("net.pt", TestFile("fashion_network.pt"));
  EXPECT_THAT(program.Run({"report", "score_net"}).out, HasSubstr("\nmax_logit"));
  // Another split has its own rows, and only those that were scored.
  const ProgramResult split = program.Run(Words({"--methods=mcp", "--split=1"}));
  ASSERT_EQ(split.exit_code, 0) << split.err;
  EXPECT_THAT(split.out, AllOf(ContainsRegex("mcp +0 "), ContainsRegex("mcp +1 "), ContainsRegex("max_logit +0 "),
                               Not(ContainsRegex("max_logit +1 ")), Not(HasSubstr("no record yet"))));
  EXPECT_THAT(program.Run({"status", "score_net"}).out, HasSubstr("4 of 4 trials done"));
  const ProgramResult again = program.Run(Words({"--methods=energy_score", "--split=1"}));
  EXPECT_THAT(again.out, AllOf(ContainsRegex("energy_score +1 "), ContainsRegex("energy_score +0 ")));
  // Another task is another table.
  program.Write("own.textproto",
                "name: 'own' data_set: 'fashion_mnist' unknown { data_set: 'fashion_mnist' class_id: "
                "[3, 4] } split { known: [0, 1, 2, 5, 6, 7] }");
  const ProgramResult task = program.Run(Words({"--methods=mcp", "--task=own.textproto"}));
  ASSERT_EQ(task.exit_code, 0) << task.err;
  EXPECT_THAT(task.out, AllOf(HasSubstr("\nown: 6 known and 2 unknown classes"), HasSubstr("\nfashion_mnist_6_4: 6")));
  EXPECT_THAT(program.Run({"status", "score_net"}).out, HasSubstr("6 of 6 trials done"));
  // Other images are another report.
  ASSERT_EQ(program.Run(Words({"--methods=mcp", "--test_limit=20"})).exit_code, 0);
  EXPECT_EQ(program.Means("score_net").size(), 1);
}

constexpr char kMethod[] = R"(
model {
  osrci_cnn { feature_dim: 32 dropout: 0.2 }
  head { linear {} }
  weights { file: "net.pt" }
}
input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
)";

// With --weights, the file that the method names need not exist.
TEST(Score, WeightsReplaceThoseOfAMethodFile) {
  const OpensetProgram program;
  program.Write("net.pt", TestFile("fashion_network.pt"));
  program.Write("weights.textproto", kMethod);
  program.Write("moved.textproto", absl::StrReplaceAll(kMethod, {{"net.pt", "on/another/machine.pt"}}));
  ASSERT_EQ(program.Run(Words({"--methods=mcp"}, "weights.textproto")).exit_code, 0);
  const ProgramResult missing = program.Run(Words({"--methods=mcp"}, "moved.textproto"));
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("moved.textproto:5: model.weights.file: cannot open"));
  const ProgramResult given = program.Run(Words({"--methods=mcp", "--weights=net.pt"}, "moved.textproto"));
  ASSERT_EQ(given.exit_code, 0) << given.err;
  EXPECT_EQ(program.Means("score_moved"), program.Means("score_weights"));
}

// The same network from its weights, read by name: the same numbers, and MC-dropout, which a script can't have.
TEST(Score, WeightsOfAMethodFile) {
  const OpensetProgram program;
  program.Write("net.pt", TestFile("fashion_network.pt"));
  program.Write("weights.textproto", kMethod);
  const std::string methods = "--methods=mcp,react,mahalanobis";
  ASSERT_EQ(program.Run(Words({methods, "--head=head"})).exit_code, 0);
  const auto script = program.Means("score_net");
  const ProgramResult result = program.Run(Words({methods + ",mc_dropout"}, "weights.textproto"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto weights = program.Means("score_weights");
  EXPECT_EQ(weights.size(), 4);
  for (const auto& [method, values] : script) {
    for (const auto& [metric, value] : values) {
      EXPECT_NEAR(weights.at(method).at(metric), value, 1e-3) << method << " " << metric;
    }
  }
  EXPECT_GT(weights.at("mc_dropout").at("accuracy"), 0.85);
}

TEST(Score, ImpossibleRequestsAreRefused) {
  const OpensetProgram program;
  program.Write("net.pt", TestFile("fashion_network.pt"));
  program.Write("net.textproto", kMethod);
  program.Write("untrained.textproto", "model { vgg32 {} head { linear {} } } input {}");
  program.Write("net.safetensors", "");
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"score", "--model=net.pt"}, "--task: name the task, or give its file"},
      {{"score", "--task=mnist"}, "--split: task mnist has"},
      {{"score", "--task=mnist", "--split=0"},
       "--model: give a file of outputs (.npz), a TorchScript file, or a method file"},
      {{"score", "--task=mnst"}, "--task: unknown task 'mnst'; did you mean 'mnist'?"},
      {{"score", "--task=fashion_mnist_6_4", "--split=99"}, "has the splits 0 to"},
      {{"score", "--task=mnist", "--split=x"}, "--split: 'x' is not a number"},
      {Words({}, "nowhere.pt"), "--model: cannot open"},
      {Words({}, "nowhere.textproto"), absl::StrCat("no such file: ", program.folder(), "/nowhere.textproto")},
      {Words({}, "net.safetensors"), "name it with --network (resnet18,"},
      {Words({}, "net.pt2"),
       "--model: openset does not run .pt2 files; in Python, openset.collect('net.pt2', task='fashion_mnist_6_4'"},
      {Words({}, "net.onnx"), "--model: openset does not run .onnx files"},
      {Words({"--network=resnet_50"}, "net.safetensors"), "did you mean 'resnet50'?"},
      {Words({"--network=resnet50", "--head=fc"}, "net.safetensors"), "are for a TorchScript file"},
      {Words({"--network=resnet50", "--weights=a.pth"}, "net.safetensors"), "--model is the file of the weights"},
      {Words({"--network=resnet50"}, "net.textproto"), "a method file defines its own model"},
      {Words({"--network=resnet50"}, "nowhere.pth"), "--model: cannot open"},
      {Words({}, "untrained.textproto"), "names no trained weights: give --weights=FILE"},
      {Words({"--weights=net.pt"}), "--weights: applies only to a method file; a TorchScript network"},
      {Words({"--head=fc"}, "net.textproto"), "--head and --features are for a TorchScript file"},
      {Words({"--key=ema"}), "--key: is for a file of weights; a TorchScript network has no keys"},
      {Words({"--weights=nowhere"}, "net.textproto"), "--weights: cannot open"},
      {Words({"--methods=mpc"}), "--methods: unknown method 'mpc'; did you mean 'mcp'?"},
      {Words({"--methods=arpl"}), "--methods: arpl is trained with its own loss"},
      {Words({"--methods=energy"}),
       "--methods: energy is trained with samples that stand for unknown classes; energy_score is its score without "
       "that "
       "training"},
      {Words({"--mean=1,2"}), "--mean: has 2 values for 1 channels"},
      {Words({"--std=0"}), "--std: must be above 0"},
      {Words({"--size=0"}), "--size: must be at least 1"},
      {Words({"--outputs=-1"}), "--outputs: -1 is negative"},
      {Words({"--test_limit=-1"}), "--test_limit: must be at least 0"},
      {Words({"more"}), "usage: openset score [--flag=value ...]"},
  };
  for (const auto& [words, what] : cases) {
    const ProgramResult result = program.Run(words);
    EXPECT_EQ(result.exit_code, 2) << what;
    EXPECT_THAT(result.err, HasSubstr(what));
    EXPECT_THAT(result.out, Not(HasSubstr("trials to run"))) << what;
  }
}

// The network is for split 0 and the mean 0.286. Likely mistakes are listed after the table.
TEST(Score, HintsAtMistakes) {
  const OpensetProgram program;
  program.Write("net.pt", TestFile("fashion_network.pt"));
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, ""},
      {{"--split=1"}, "with those of split 0: was the network trained on that one? --split=0 measures it there"},
      {{"--outputs=2,0,1,5,3,4"},
       "with the known classes in another order: --outputs=0,1,2,3,4,5 puts the network's outputs into that order"},
      {{"--mean=50"},
       "on 300 known samples, no better than guessing among 6 classes: check --mean, --std, --size, --outputs, "
       "--split"},
  };
  int number = 0;
  for (const auto& [wrong, hint] : cases) {
    const std::string store = absl::StrCat("--store=store_", number++);
    std::vector<std::string> words = Words({"--methods=mcp", store});
    words.insert(words.end(), wrong.begin(), wrong.end());
    const ProgramResult result = program.Run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("records: "));
    EXPECT_EQ(program.Run({"report", "score_net", store}).err, result.err);
    if (hint.empty()) {
      EXPECT_EQ(result.err, "");
      continue;
    }
    EXPECT_THAT(result.err, AllOf(StartsWith("hint: accuracy is "), HasSubstr(hint)));
    EXPECT_EQ(absl::c_count(result.err, '\n'), 1) << result.err;
  }
}

TEST(Score, ErrorsOfTheNetworkAreReported) {
  const OpensetProgram program;
  program.Write("net.pt", TestFile("fashion_network.pt"));
  program.Write("broken.pt", "no archive");
  program.Write("nan.pt", *ReadFile(JoinPath(*RunfilesFolder(), "openset/models/testdata/script_nan.pt")));
  program.Write("softmax.pt",
                *ReadFile(JoinPath(*RunfilesFolder(), "openset/models/testdata/script_probabilities.pt")));
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {Words({"--methods=mcp", "--head=fc"}), "unknown linear module 'fc' (known: backbone.fc, head)"},
      {Words({"--methods=mcp", "--size=20"}), "the script fails on images of [2, 1, 20, 20]"},
      {Words({"--methods=mcp", "--outputs=0,1,2"}), "torch_script.output lists 3 places for 6 known classes"},
      {Words({}, "broken.pt"), "broken.pt: is not a TorchScript archive"},
      {Words({"--methods=mcp", "--size=8"}, "nan.pt"), "nan.pt: the script gives NaN"},
      {Words({"--methods=mcp", "--size=8"}, "softmax.pt"),
       "softmax.pt: the script ends in a softmax: its outputs for an image are never negative and sum to 1; scores "
       "need logits, so save the network without its softmax"},
  };
  for (const auto& [words, what] : cases) {
    const ProgramResult result = program.Run(words);
    EXPECT_EQ(result.exit_code, 2) << what;
    EXPECT_THAT(result.err, AllOf(StartsWith("openset: the model: "), HasSubstr(what)));
    EXPECT_EQ(absl::c_count(result.err, '\n'), 1) << result.err;
    EXPECT_THAT(result.out, Not(HasSubstr("records: "))) << what;  // no table of dashes
    EXPECT_THAT(result.out, Not(HasSubstr("left out: "))) << what;
  }
}

// A script is an ordinary model: here it is trained further. Its file may be removed once it is in the store.
TEST(Score, ExperimentsTrainAScriptFurther) {
  const OpensetProgram program;
  program.Write("net.pt", TestFile("fashion_network.pt"));
  program.Write("tuned.textproto", R"(
      model { torch_script { file: "net.pt" head: "head" } }
      input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
      loss { term { cross_entropy {} } }
      training {
        epochs: 2
        batch_size: 50
        optimizer { learning_rate: 0.01 sgd { momentum: 0.9 } }
        schedule { constant {} }
      }
      inference { plain {} }
      score { react {} })");
  program.Write("study.textproto",
                "name: 'study' task: 'fashion_mnist_6_4' method: 'tuned.textproto' split: 0 seed: 0 "
                "train_limit_per_class: 50 test_limit_per_class: 50 metric { accuracy {} } metric { auroc {} }");
  const ProgramResult result = program.Run({"run", "study.textproto"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const TrialRecord record = program.AnyRecord();
  ASSERT_EQ(record.epoch_size(), 2);
  EXPECT_GT(record.epoch(0).train_accuracy(), 0.8);  // it doesn't start anew; guessing has 1/6
  EXPECT_EQ(record.trial().method().model().torch_script().sha256().size(), 64);
}

}  // namespace
}  // namespace openset

// Each packaged method, from its file to its record, on real Fashion-MNIST images.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

// Expected numbers of complete runs. They are bit-identical on one kind of processor and differ slightly between kinds.

// LibTorch's own rule (aten/src/ATen/native/DispatchStub.cpp).
std::string Capability(const std::set<std::string>& flags) {
  const auto has = [&](const char* flag) { return flags.count(flag) > 0; };
  if (has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq") && has("fma")) return "AVX512";
  if (has("avx2") && has("fma")) return "AVX2";
  return "DEFAULT";
}

// The properties by which libraries choose their kernels: the processor's vendor, family and model, and LibTorch's CPU
// capability. "GenuineIntel 6/143 AVX512"; with --config=sse "... DEFAULT, oneDNN SSE41".
std::string Processor() {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, std::string> info;  // of the first processor
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::pair<std::string, std::string> entry = absl::StrSplit(line, absl::MaxSplits(':', 1));
    info[std::string(absl::StripAsciiWhitespace(entry.first))] = std::string(absl::StripAsciiWhitespace(entry.second));
  }
  const std::set<std::string> flags = absl::StrSplit(info["flags"], ' ');
  std::string capability = Capability(flags);
  if (const char* lowered = std::getenv("ATEN_CPU_CAPABILITY")) capability = absl::AsciiStrToUpper(lowered);
  if (const char* lowered = std::getenv("ONEDNN_MAX_CPU_ISA")) absl::StrAppend(&capability, ", oneDNN ", lowered);
  return absl::StrCat(info["vendor_id"], " ", info["cpu family"], "/", info["model"], " ", capability);
}

// The entry of this processor in tools/testing/testdata/`file`; null if it has none. To add one, run the test and copy
// the file that KeepNumbers() writes.
nlohmann::json GoldenNumbers(const std::string& file) {
  const nlohmann::json golden = nlohmann::json::parse(*ReadFile(absl::StrCat("tools/testing/testdata/", file)));
  return golden.value(Processor(), nlohmann::json());
}

// Writes {Processor(): numbers} to `file` in the test's outputs (bazel-testlogs/.../test.outputs).
void KeepNumbers(const std::string& file, const nlohmann::json& numbers) {
  const char* folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (folder == nullptr) return;
  std::ofstream(JoinPath(folder, file)) << nlohmann::json{{Processor(), numbers}}.dump(1) << "\n";
}

// 600 training images of 16x16, four epochs.
constexpr char kSpec[] = R"(
name: "methods"
task: "fashion_and_gradients"
split: 0
seed: 0
override {
  input { size: 16 channels: 1 mean: 0.286 std: 0.353 }
  pretraining {
    training {
      epochs: 4
      batch_size: 32
      optimizer { learning_rate: 0.02 sgd { momentum: 0.9 nesterov: true } }
      schedule { cosine_restarts { cycle_epochs: 4 floor: 0 warmup_epochs: 0 stepping: EPOCH } }
    }
  }
  training {
    epochs: 4
    batch_size: 32
    optimizer { learning_rate: 0.02 sgd { momentum: 0.9 nesterov: true } }
    schedule { cosine_restarts { cycle_epochs: 4 floor: 0 warmup_epochs: 0 stepping: EPOCH } }
  }
}
# Small networks next to the classifier; small steps from a trained one.
axis { path: "open_set.confusing_images.width" value: "4" method: "arpl_cs" }
axis { path: "training.optimizer.learning_rate" value: "0.001" method: "energy" }
train_limit_per_class: 100
test_limit_per_class: 50
metric { accuracy {} }
metric { auroc {} }
metric { auroc_misclassification {} }
)";

// The packaged methods. Methods of features are in features_test.py.
std::vector<std::string> Methods() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(RunfilesFolder().value() + "/openset/experiments/methods")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".textproto" || name == "logistic_regression" || name == "nearest_mean") continue;
    names.push_back(name);
  }
  return names;
}

// What a method's training must achieve on any processor, with one seed:
//
//   learns   its accuracy is above 1/6 (as if it always predicted one class) by six standard errors of 300 test
//            samples (0.0215 each): above 0.296. Over six other seeds the means are 0.48 and more, with a standard
//            deviation of 0.05.
//   ranks    its score separates wrong from right predictions better than a random one: the AUROC of its errors is
//            above 0.5, and the mean of these AUROCs over all such methods is above 0.62. One training's AUROC moves by
//            0.045 from seed to seed, and more from processor to processor (acc_auc: 0.735 and 0.595), so no higher
//            bound for one method holds on each of them. The mean is 0.77 on the processor of the golden numbers, 3.3
//            standard deviations of one training above its bound; random scores have 0.5 on average, half of them less.
//
// After so few steps, unknown classes can't be detected (AUROCs are about 1/2), so only golden numbers check the rest.
const std::set<std::string> kDoNotLearn = {"gcpl", "rpl", "rankfeat"};  // rankfeat predicts from the changed logits
const std::set<std::string> kRank = {"acc_auc",
                                     "arpl_cs",
                                     "augmix",
                                     "augmix_no_jsd",
                                     "crl",
                                     "crl_unified_benchmark",
                                     "deep_ensemble",
                                     "deep_ensemble_expected_entropy",
                                     "deep_ensemble_variation_ratio",
                                     "edl",
                                     "entropy",
                                     "fmfp",
                                     "mcp",
                                     "noise_softmax",
                                     "openmix",
                                     "outlier_exposure",
                                     "outlier_exposure_unified_benchmark",
                                     "overlay_softmax",
                                     "sure",
                                     "temperature_scaling",
                                     "thresholded_softmax"};

constexpr int kKnownSamples = 300;

// Expects the exact numbers of each method, on the kinds of processor in testdata/methods_golden.json. What it lacks is
// in this test's outputs (GoldenNumbers).
void ExpectGolden(const nlohmann::json& golden, const MeanValues& values) {
  for (const auto& [method, numbers] : golden.items()) {
    ASSERT_EQ(values.count(method), 1) << method;
    for (const auto& [metric, value] : values.at(method)) {
      EXPECT_EQ(value, numbers.at(metric).get<double>()) << method << " " << metric;
    }
  }
}

void ExpectBetterThanRandom(const MeanValues& values) {
  double sum = 0;
  size_t ranking = 0;
  for (const auto& [method, of_metric] : values) {
    SCOPED_TRACE(method);
    if (kDoNotLearn.count(method) == 0) {
      EXPECT_GT(of_metric.at("accuracy"), 1.0 / 6 + 6 * std::sqrt(1.0 / 6 * 5 / 6 / kKnownSamples));
    }
    if (kRank.count(method) > 0) {
      const double auroc = of_metric.at("auroc_misclassification");
      EXPECT_GT(auroc, 0.5);
      sum += auroc;
      ++ranking;
    }
  }
  ASSERT_EQ(ranking, kRank.size());
  EXPECT_GT(sum / static_cast<double>(ranking), 0.62);
}

TEST(Methods, GiveTheirNumbers) {
  const OpensetProgram program;
  program.GenerateExternalImages();
  std::string spec = kSpec;
  const std::vector<std::string> methods = Methods();
  ASSERT_GT(methods.size(), 100);
  for (const std::string& method : methods) absl::StrAppend(&spec, "method: '", method, "'\n");
  program.Write("methods.textproto", spec);
  program.MustRun({"run", "methods.textproto", "--data=data"});
  MeanValues values = program.Means("methods");
  ASSERT_EQ(values.size(), methods.size());
  KeepNumbers("methods_golden.json", values);
  const nlohmann::json golden = GoldenNumbers("methods_golden.json");
  if (!golden.is_null()) ExpectGolden(golden, values);
  // These hold on every processor.
  ExpectBetterThanRandom(values);
  // Scores of the same training have the same predictions.
  for (const char* method :
       {"adascale_a", "energy_score", "entropy", "gen", "knn", "mahalanobis", "max_logit", "vim", "weiper_kld"}) {
    EXPECT_EQ(values[method]["accuracy"], values["mcp"]["accuracy"]) << method;
  }
}

}  // namespace
}  // namespace openset

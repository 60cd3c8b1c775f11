// Each packaged method, from its file to its record, on real Fashion-MNIST images.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
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
struct Method {
  const char* name;
  bool learns;
  bool ranks;
};
constexpr Method kMethods[] = {
    {"acc_auc", true, true},
    {"acc_auc_supplement", true, false},
    {"adascale_a", true, false},
    {"adascale_l", true, false},
    {"arpl", true, false},
    {"arpl_cs", true, true},
    {"arpl_plus", true, false},
    {"ash", true, false},
    {"augmix", true, true},
    {"augmix_no_jsd", true, true},
    {"background_class", true, false},
    {"ce_plus", true, false},
    {"centre_loss", true, false},
    {"cider", true, false},
    {"class_anchor", true, false},
    {"combine", true, false},
    {"combood", true, false},
    {"confidence_branch", true, false},
    {"crl", true, true},
    {"crl_openauc", true, false},
    {"crl_unified_benchmark", true, true},
    {"cutmix", true, false},
    {"deep_ensemble", true, true},
    {"deep_ensemble_expected_entropy", true, true},
    {"deep_ensemble_mutual_information", true, false},
    {"deep_ensemble_variation_ratio", true, true},
    {"deep_gamblers", true, false},
    {"dice", true, false},
    {"edl", true, true},
    {"energy", true, false},
    {"energy_score", true, false},
    {"entropic_open_set", true, false},
    {"entropy", true, true},
    {"fdbd", true, false},
    {"fmfp", true, true},
    {"g_odin", true, false},
    {"gcpl", false, false},
    {"gen", true, false},
    {"ghost", true, false},
    {"ghost_released", true, false},
    {"gmm", true, false},
    {"gradient_uncertainty", true, false},
    {"gradnorm", true, false},
    {"gram", true, false},
    {"grood", true, false},
    {"ii_loss", true, false},
    {"klm", true, false},
    {"knn", true, false},
    {"logit_norm", true, false},
    {"lts", true, false},
    {"mahalanobis", true, false},
    {"mahalanobis_ensemble", true, false},
    {"mahalanobis_plus_plus", true, false},
    {"max_logit", true, false},
    {"mc_dropout", true, false},
    {"mc_dropout_expected_entropy", true, false},
    {"mc_dropout_mutual_information", true, false},
    {"mc_dropout_variation_ratio", true, false},
    {"mcp", true, true},
    {"mix_oe", true, false},
    {"mixup", true, false},
    {"nac", true, false},
    {"nac_stages", true, false},
    {"nci", true, false},
    {"nnguide", true, false},
    {"noise_softmax", true, true},
    {"objectosphere", true, false},
    {"odin", true, false},
    {"odin_unified_benchmark", true, false},
    {"one_vs_set", true, false},
    {"openauc", true, false},
    {"openauc_energy", true, false},
    {"openauc_hinge", true, false},
    {"openauc_logistic", true, false},
    {"openauc_noise_images", true, false},
    {"openauc_paper", true, false},
    {"openauc_squared_hinge", true, false},
    {"openauc_supplement", true, false},
    {"openmax", true, false},
    {"openmax_class_imbalance", true, false},
    {"openmax_class_imbalance_corrected", true, false},
    {"openmax_closed_set", true, false},
    {"openmax_unified_benchmark", true, false},
    {"openmix", true, true},
    {"osnn", true, false},
    {"outlier_exposure", true, true},
    {"outlier_exposure_unified_benchmark", true, true},
    {"overlay_softmax", true, true},
    {"pix_mix", true, false},
    {"pnml", true, false},
    {"postmax", true, false},
    {"proser", true, false},
    {"rankfeat", false, false},  // it predicts from the changed logits
    {"react", true, false},
    {"react_unified_benchmark", true, false},
    {"reg_mixup", true, false},
    {"relation", true, false},
    {"relative_mahalanobis", true, false},
    {"relative_mahalanobis_plus_plus", true, false},
    {"residual", true, false},
    {"rpl", false, false},
    {"rts", true, false},
    {"scale", true, false},
    {"scone", true, false},
    {"she", true, false},
    {"softmax", true, false},
    {"ssd", true, false},
    {"sure", true, true},
    {"t2fnorm", true, false},
    {"temperature_scaling", true, true},
    {"thresholded_softmax", true, true},
    {"vim", true, false},
    {"vos", true, false},
    {"vra", true, false},
    {"vra_plus", true, false},
    {"weiper_kld", true, false},
};

constexpr int kKnownSamples = 300;

std::vector<std::string> MethodFiles() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(RunfilesFolder().value() + "/openset/experiments/methods")) {
    if (entry.path().extension() == ".textproto") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Methods, AreAllInTheTable) {
  // Methods of features are in bring_your_own_test.cc.
  std::vector<std::string> names = {"logistic_regression", "nearest_mean"};
  for (const Method& method : kMethods) names.push_back(method.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(MethodFiles(), names);
}

// Expects the exact numbers of each method, on the kinds of processor in testdata/methods_golden.json. A null there
// must still be replaced by the number in this test's outputs (GoldenNumbers).
void ExpectGolden(const nlohmann::json& golden, const std::map<std::string, std::map<std::string, double>>& values) {
  for (const Method& method : kMethods) {
    SCOPED_TRACE(method.name);
    ASSERT_TRUE(golden.contains(method.name));
    if (golden.at(method.name).is_null()) continue;
    for (const auto& [metric, value] : values.at(method.name)) {
      EXPECT_EQ(value, golden.at(method.name).at(metric).get<double>()) << metric;
    }
  }
}

void ExpectBetterThanRandom(const std::map<std::string, std::map<std::string, double>>& values) {
  double sum = 0;
  int ranking = 0;
  for (const Method& method : kMethods) {
    SCOPED_TRACE(method.name);
    if (method.learns) {
      EXPECT_GT(values.at(method.name).at("accuracy"), 1.0 / 6 + 6 * std::sqrt(1.0 / 6 * 5 / 6 / kKnownSamples));
    }
    if (method.ranks) {
      const double auroc = values.at(method.name).at("auroc_misclassification");
      EXPECT_GT(auroc, 0.5);
      sum += auroc;
      ++ranking;
    }
  }
  EXPECT_GT(sum / ranking, 0.62);
}

TEST(Methods, GiveTheirNumbers) {
  const OpensetProgram program;
  program.GenerateExternalImages();
  std::string spec = kSpec;
  for (const Method& method : kMethods) absl::StrAppend(&spec, "method: '", method.name, "'\n");
  program.Write("methods.textproto", spec);
  const ProgramResult result = program.Run({"run", "methods.textproto", "--data=data"});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  const nlohmann::json report = nlohmann::json::parse(program.Read("openset-store/reports/methods/report.json"));
  std::map<std::string, std::map<std::string, double>> values;
  for (const nlohmann::json& cell : report.at("cells")) {
    values[cell.at("method")][cell.at("metric")] = cell.at("mean");
  }
  ASSERT_EQ(values.size(), std::size(kMethods));
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

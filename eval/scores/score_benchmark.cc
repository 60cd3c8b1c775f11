// Post-hoc scores of 20,000 samples with 100 logits and 512 features, on all cores, after a fit to as many. Target: ten
// scores (BM_Sweep) in under 2 s on 2 cores, without Mahalanobis distances and k-th neighbours.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "core/random.h"
#include "eval/scores/make_score.h"
#include "google/protobuf/text_format.h"

namespace openset {
namespace {

constexpr int64_t kSamples = 20000;
constexpr int64_t kOutputs = 100;
constexpr int64_t kFeatures = 512;

const char* const kSweep[] = {"max_softmax", "max_logit", "energy", "entropy", "react",
                              "openmax",     "vim",       "gen",    "ash",     "dice"};

// Features that are 0 half the time, around the mean of the sample's class, and the logits that a head gives them.
struct Outputs {
  std::vector<float> features = std::vector<float>(kSamples * kFeatures);
  std::vector<float> logits = std::vector<float>(kSamples * kOutputs, 0.0f);
  std::vector<float> weight = std::vector<float>(kOutputs * kFeatures);
  std::vector<float> bias = std::vector<float>(kOutputs, 0.1f);
  std::vector<int32_t> labels = std::vector<int32_t>(kSamples);

  Outputs() {
    RandomStream random(1, "outputs");
    for (float& value : weight) value = static_cast<float>(0.1 * random.Normal());
    for (int64_t i = 0; i < kSamples; ++i) {
      labels[i] = static_cast<int32_t>(i % kOutputs);
      for (int64_t d = 0; d < kFeatures; ++d) {
        const double x = random.Normal() + 5 * weight[labels[i] * kFeatures + d];
        features[i * kFeatures + d] = x > 0 ? static_cast<float>(x) : 0;
      }
      for (int64_t c = 0; c < kOutputs; ++c) {
        float logit = bias[c];
        for (int64_t d = 0; d < kFeatures; ++d) logit += weight[c * kFeatures + d] * features[i * kFeatures + d];
        logits[i * kOutputs + c] = logit;
      }
    }
  }

  ScoreInput Input() const {
    ScoreInput input;
    input.num_samples = kSamples;
    input.num_outputs = kOutputs;
    input.feature_dim = kFeatures;
    input.logits = logits;
    input.features = features;
    input.head_weight = weight;
    input.head_bias = bias;
    return input;
  }
};

const Outputs& TheOutputs() {
  static const Outputs* outputs = new Outputs();
  return *outputs;
}

std::unique_ptr<Score> MakeScoreOf(const std::string& name) {
  ScoreSpec spec;
  google::protobuf::TextFormat::ParseFromString(absl::StrCat(name, " {}"), &spec);
  return MakeScore(spec).value();
}

void Fit(Score* score, benchmark::State* state) {
  const absl::Status status = score->Fit(TheOutputs().Input(), TheOutputs().labels);
  if (!status.ok()) state->SkipWithError(std::string(status.message()).c_str());
}

void BM_Fit(benchmark::State& state, const std::string& name) {
  const std::unique_ptr<Score> score = MakeScoreOf(name);
  TheOutputs();
  for (auto _ : state) Fit(score.get(), &state);
}

void BM_Compute(benchmark::State& state, const std::string& name) {
  const std::unique_ptr<Score> score = MakeScoreOf(name);
  Fit(score.get(), &state);
  for (auto _ : state) benchmark::DoNotOptimize(score->Compute(TheOutputs().Input()));
}

void BM_Sweep(benchmark::State& state) {
  std::vector<std::unique_ptr<Score>> scores;
  for (const char* name : kSweep) {
    scores.push_back(MakeScoreOf(name));
    Fit(scores.back().get(), &state);
  }
  for (auto _ : state) {
    for (const auto& score : scores) benchmark::DoNotOptimize(score->Compute(TheOutputs().Input()));
  }
}

BENCHMARK(BM_Sweep)->Unit(benchmark::kMillisecond)->UseRealTime();

// Registers the others.
const bool registered = [] {
  for (const char* name : {"max_softmax", "max_logit", "energy", "entropy", "react", "openmax", "vim", "gen", "ash",
                           "dice", "she", "mahalanobis", "relative_mahalanobis", "knn", "temperature_scaled_softmax"}) {
    benchmark::RegisterBenchmark(absl::StrCat("BM_Compute/", name).c_str(), BM_Compute, std::string(name))
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  for (const char* name : {"react", "openmax", "vim", "dice", "she", "mahalanobis", "relative_mahalanobis", "knn",
                           "temperature_scaled_softmax"}) {
    benchmark::RegisterBenchmark(absl::StrCat("BM_Fit/", name).c_str(), BM_Fit, std::string(name))
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  return true;
}();

}  // namespace
}  // namespace openset

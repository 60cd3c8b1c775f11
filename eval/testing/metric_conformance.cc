#include "eval/testing/metric_conformance.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "eval/metrics/metric.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace testing {
namespace {

constexpr double kTolerance = 1e-12;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// `levels` 0: scores without ties.
Samples RandomSamples(absl::string_view name, int known, int unknown, int classes, int levels) {
  RandomStream random(5, name);
  Samples samples;
  samples.name = std::string(name);
  samples.num_classes = classes;
  for (int i = 0; i < known + unknown; ++i) {
    const bool is_known = i < known;
    samples.label.push_back(is_known ? static_cast<int32_t>(random.Below(classes)) : kUnknownLabel);
    const bool copies = is_known && random.Uniform() < 0.6;
    samples.prediction.push_back(copies ? samples.label.back() : static_cast<int32_t>(random.Below(classes)));
    const double score = random.Normal() + (is_known ? 0 : 1);
    samples.unknown_score.push_back(levels == 0 ? score : std::round(score * levels) / levels);
    for (int c = 0; c < classes; ++c) samples.logits.push_back(static_cast<float>(2 * random.Normal()));
  }
  samples.num_outputs = classes;
  return samples;
}

std::vector<Samples> Inputs() {
  std::vector<Samples> inputs = {
      RandomSamples("distinct", 30, 20, 4, 0),  RandomSamples("ties", 40, 30, 3, 2),
      RandomSamples("no unknown", 12, 0, 3, 2), RandomSamples("no known", 0, 9, 3, 2),
      RandomSamples("one class", 8, 7, 1, 3),   RandomSamples("one against one", 1, 1, 2, 0),
      RandomSamples("infinite", 10, 10, 2, 1),  RandomSamples("constant", 6, 5, 2, 0),
      RandomSamples("all wrong", 6, 5, 3, 0),
  };
  for (int i = 0; i < 20; i += 3) inputs[6].unknown_score[i] = i % 2 == 0 ? kInfinity : -kInfinity;
  for (double& score : inputs[7].unknown_score) score = 0.25;
  for (int i = 0; i < 6; ++i) inputs[8].prediction[i] = (inputs[8].label[i] + 1) % 3;
  return inputs;
}

void AddSample(const Samples& from, int64_t i, Samples* to) {
  to->num_classes = from.num_classes;
  to->num_outputs = from.num_outputs;
  to->unknown_score.push_back(from.unknown_score[i]);
  to->prediction.push_back(from.prediction[i]);
  to->label.push_back(from.label[i]);
  const auto row = from.logits.begin() + i * from.num_outputs;
  to->logits.insert(to->logits.end(), row, row + from.num_outputs);
}

Samples Repeated(const Samples& samples, const std::vector<uint32_t>& times) {
  Samples result;
  for (int64_t i = 0; i < times.size(); ++i) {
    for (uint32_t copy = 0; copy < times[i]; ++copy) AddSample(samples, i, &result);
  }
  return result;
}

Samples Permuted(const Samples& samples, const std::vector<int64_t>& order) {
  Samples result;
  for (const int64_t i : order) AddSample(samples, i, &result);
  return result;
}

void ExpectSame(const MetricResult& a, const MetricResult& b) {
  ASSERT_EQ(a.value.has_value(), b.value.has_value()) << a.absent_reason << b.absent_reason;
  if (a.value.has_value()) {
    EXPECT_NEAR(*a.value, *b.value, kTolerance);
  }
}

MetricResult Compute(const MetricSpec& spec, const Samples& samples) {
  return ComputeMetric(spec, RankedInput(samples.Input()));
}

}  // namespace

void CheckMetric(const MetricSpec& spec, const MetricForm& form) {
  SCOPED_TRACE(spec.ShortDebugString());
  for (const Samples& samples : Inputs()) {
    SCOPED_TRACE(samples.name);
    const int64_t n = samples.label.size();
    RandomStream random(6, samples.name);
    const MetricResult result = Compute(spec, samples);
    if (result.value.has_value()) {
      EXPECT_TRUE(std::isfinite(*result.value));
      EXPECT_GE(*result.value, form.low - kTolerance);
      EXPECT_LE(*result.value, form.high + kTolerance);
      EXPECT_EQ(result.absent_reason, "");
    } else {
      EXPECT_NE(result.absent_reason, "");
    }

    if (!form.depends_on_order) ExpectSame(Compute(spec, Permuted(samples, random.Permutation(n))), result);
    if (form.depends_on_ranks_only) {
      Samples moved = samples;
      for (double& score : moved.unknown_score) score = 3 + 2 * score;
      ExpectSame(Compute(spec, moved), result);
    }

    std::vector<uint32_t> times(n);
    times[random.Below(n)] = 1;  // not all 0
    for (uint32_t& t : times) t += static_cast<uint32_t>(random.Below(4));
    RankedInput ranked(samples.Input());
    ranked.Reweight(times);
    ExpectSame(ComputeMetric(spec, ranked), Compute(spec, Repeated(samples, times)));
    ranked.Reweight(std::vector<uint32_t>(n, 1));
    ExpectSame(ComputeMetric(spec, ranked), result);
  }
}

}  // namespace testing
}  // namespace openset

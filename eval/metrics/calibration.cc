#include "eval/metrics/calibration.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"

namespace openset {
namespace {

// Calls visit(sample, weight, values) for known samples that count.
template <typename Visit>
void ForEachKnown(const RankedInput& ranked, Visit visit) {
  const std::vector<SoftmaxValues>& values = ranked.softmax()->Values();
  for (int64_t i = 0; i < ranked.input().num_samples(); ++i) {
    const uint32_t weight = ranked.weight(i);
    if (weight > 0 && !ranked.input().IsUnknown(i)) visit(i, weight, values[i]);
  }
}

// Returns why there is no value, or nothing.
std::optional<MetricResult> Missing(const RankedInput& ranked) {
  if (ranked.softmax() == nullptr) return MetricResult::Absent("no logits");
  if (ranked.total().known() == 0) return AbsentWithoutKnown();
  return std::nullopt;
}

// Lower edges are multiples of the rounded width, as in numpy.linspace(0, 1, bins + 1).
double Edge(int i, int bins) { return i == bins ? 1 : i * (1.0 / bins); }

}  // namespace

std::vector<CalibrationBin> CalibrationBins(const RankedInput& ranked, int bins, EceSpec::Edges edges) {
  if (Missing(ranked).has_value()) return {};
  std::vector<CalibrationBin> result(bins);
  for (int b = 0; b < bins; ++b) {
    result[b].low = Edge(b, bins);
    result[b].high = Edge(b + 1, bins);
  }
  ForEachKnown(ranked, [&](int64_t i, uint32_t weight, const SoftmaxValues& values) {
    const double confidence = values.confidence;
    const bool right_closed = edges != EceSpec::LEFT_CLOSED;
    if (right_closed && confidence <= 0) return;
    int b = std::min(static_cast<int>(confidence * bins), bins - 1);
    // The product is rounded; the edges decide.
    while (b > 0 && (right_closed ? confidence <= result[b].low : confidence < result[b].low)) --b;
    while (b + 1 < bins && (right_closed ? confidence > result[b].high : confidence >= result[b].high)) ++b;
    result[b].samples += weight;
    result[b].confidence += weight * confidence;
    result[b].accuracy += ranked.input().IsCorrect(i) ? weight : 0;
  });
  for (CalibrationBin& bin : result) {
    if (bin.samples == 0) continue;
    bin.confidence /= bin.samples;
    bin.accuracy /= bin.samples;
  }
  return result;
}

// All absent without logits and without known samples; lower is better.
namespace {

// Mean of -ln softmax(z)_y, in nats, in [0, inf). Also absent if the logit of a sample's class is -inf.
MetricResult NegativeLogLikelihood(const RankedInput& ranked) {
  if (const auto missing = Missing(ranked)) return *missing;
  double sum = 0;
  ForEachKnown(ranked, [&](int64_t, uint32_t weight, const SoftmaxValues& values) { sum += weight * values.nll; });
  if (std::isinf(sum)) return MetricResult::Absent("a known sample's class has probability 0");
  return sum / ranked.total().known();
}

// Mean of sum over c of (softmax(z)_c - 1[c = y])^2, in [0, 2].
MetricResult BrierScore(const RankedInput& ranked) {
  if (const auto missing = Missing(ranked)) return *missing;
  double sum = 0;
  ForEachKnown(ranked, [&](int64_t, uint32_t weight, const SoftmaxValues& values) { sum += weight * values.brier; });
  return sum / ranked.total().known();
}

// The sum over bins of (samples / known samples) |accuracy - confidence|, in [0, 1].
MetricResult ExpectedCalibrationError(const RankedInput& ranked, int bins, EceSpec::Edges edges) {
  if (const auto missing = Missing(ranked)) return *missing;
  double sum = 0;
  for (const CalibrationBin& bin : CalibrationBins(ranked, bins, edges)) {
    sum += bin.samples * std::abs(bin.accuracy - bin.confidence);
  }
  return sum / ranked.total().known();
}

// The largest |accuracy - confidence| over the bins that have samples, in [0, 1].
MetricResult MaximumCalibrationError(const RankedInput& ranked, int bins, EceSpec::Edges edges) {
  if (const auto missing = Missing(ranked)) return *missing;
  double largest = 0;
  for (const CalibrationBin& bin : CalibrationBins(ranked, bins, edges)) {
    if (bin.samples > 0) largest = std::max(largest, std::abs(bin.accuracy - bin.confidence));
  }
  return largest;
}

// ExpectedCalibrationError() over `bins` bins with equal numbers of samples, by ascending confidence; the first n mod
// bins have one more (torch-uncertainty). Each of several samples with equal confidence counts with their mean
// accuracy.
MetricResult AdaptiveCalibrationError(const RankedInput& ranked, int bins) {
  if (const auto missing = Missing(ranked)) return *missing;
  struct Level {
    double confidence = 0;
    double samples = 0;
    double correct = 0;
  };
  std::vector<double> confidence;
  std::vector<int64_t> sample;
  ForEachKnown(ranked, [&](int64_t i, uint32_t, const SoftmaxValues& values) {
    confidence.push_back(values.confidence);
    sample.push_back(i);
  });
  std::vector<Level> levels;  // by confidence
  for (const uint32_t k : StableOrder(confidence)) {
    if (levels.empty() || levels.back().confidence != confidence[k]) levels.push_back({confidence[k]});
    const uint32_t weight = ranked.weight(sample[k]);
    levels.back().samples += weight;
    levels.back().correct += ranked.input().IsCorrect(sample[k]) ? weight : 0;
  }
  const int64_t n = ranked.total().known();
  double sum = 0;
  auto level = levels.begin();
  double taken = 0;  // samples of the level used so far
  for (int b = 0; b < bins; ++b) {
    double open = static_cast<double>(n / bins + (b < n % bins ? 1 : 0));
    double difference = 0;  // sum of correct - confidence
    while (open > 0) {
      const double take = std::min(open, level->samples - taken);
      difference += take * (level->correct / level->samples - level->confidence);
      open -= take;
      taken += take;
      if (taken == level->samples) {
        ++level;
        taken = 0;
      }
    }
    sum += std::abs(difference);
  }
  return sum / static_cast<double>(n);
}

}  // namespace

Metric Make(const NllSpec&) { return {{"NLL"}, NegativeLogLikelihood}; }

Metric Make(const BrierSpec&) { return {{"Brier score"}, BrierScore}; }

Metric Make(const EceSpec& spec, MetricSpec::KindCase kind) {
  const bool maximum = kind == MetricSpec::kMce;
  return {With({maximum ? "MCE" : "ECE", absl::StrCat(spec.bins(), " bins")}, spec.edges() == EceSpec::LEFT_CLOSED,
               "left closed"),
          [of = maximum ? MaximumCalibrationError : ExpectedCalibrationError, bins = spec.bins(),
           edges = spec.edges()](const RankedInput& ranked) { return of(ranked, bins, edges); }};
}

Metric Make(const AdaptiveEceSpec& spec) {
  return {{"adaptive ECE", absl::StrCat(spec.bins(), " bins")},
          [bins = spec.bins()](const RankedInput& ranked) { return AdaptiveCalibrationError(ranked, bins); }};
}

}  // namespace openset

#include "eval/metrics/threshold_metric.h"

#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"

namespace openset {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Ratio(double numerator, double denominator) { return denominator == 0 ? 0 : numerator / denominator; }

double FScore(double precision, double recall) { return Ratio(2 * precision * recall, precision + recall); }

// Samples accepted as another class than their own: the sum of FP_i over the known classes.
double FalsePositives(const Decisions& d) { return static_cast<double>(d.accepted.wrong) + d.accepted.unknown; }

// The sum of TN_i + FP_i over the known classes.
double Negatives(const Decisions& d) { return static_cast<double>(d.num_classes) * d.total.all() - d.total.known(); }

// Loops over all thresholds and keeps only the position of the best so far, because the processor can't predict when a
// value is the best. Then counts the samples that are accepted there.
template <typename Value>
ThresholdValue Best(const Value& value, const RankedInput& ranked, bool per_class) {
  DecisionWalk walk(ranked, per_class);
  const int64_t blocks = ranked.blocks().size();
  const bool lowest_is_infinite = blocks > 0 && ranked.ranking().Score(0) == -kInfinity;
  const int64_t first = lowest_is_infinite ? 1 : 0;
  if (lowest_is_infinite) walk.AcceptNext();
  double best_value = value(walk.decisions());
  int64_t best_end = first;  // blocks that are accepted at the best threshold
  if (!(best_value > -kInfinity)) best_value = -kInfinity, best_end = 0;
  for (int64_t end = first + 1; end <= blocks; ++end) {
    walk.AcceptNext();
    const double here = value(walk.decisions());
    best_end = here > best_value ? end : best_end;
    best_value = here > best_value ? here : best_value;
  }
  ThresholdValue best;
  best.value = best_value;
  for (int64_t block = 0; block < best_end; ++block) best.accepted += ranked.blocks()[block];
  best.threshold = best_end <= first ? -kInfinity : ranked.ranking().Score(best_end - 1);
  return best;
}

enum class PerClass { kNo, kYes };
enum class Needs { kAnySide, kBothSides };

// `value` is inlined into the loop over all thresholds, which calls it a million times.
template <typename Value>
ThresholdMetric MetricOf(PerClass per_class, Needs needs, Value value) {
  ThresholdMetric metric;
  metric.value = value;
  metric.per_class = per_class == PerClass::kYes;
  metric.needs_both_sides = needs == Needs::kBothSides;
  metric.best = [value, per_class](const RankedInput& ranked) {
    return Best(value, ranked, per_class == PerClass::kYes);
  };
  return metric;
}

}  // namespace

ThresholdMetric OpenSetFMacro() {
  return MetricOf(PerClass::kYes, Needs::kAnySide,
                  [](const Decisions& d) { return FScore(d.macro_precision, d.macro_tpr); });
}

ThresholdMetric OpenSetFMicro() {
  return MetricOf(PerClass::kNo, Needs::kAnySide, [](const Decisions& d) {
    // 2 P R / (P + R) with P = correct / accepted, R = correct / known.
    return Ratio(2.0 * d.accepted.correct, static_cast<double>(d.accepted.all()) + d.total.known());
  });
}

ThresholdMetric YoudenMacro() {
  return MetricOf(PerClass::kYes, Needs::kAnySide, [](const Decisions& d) { return d.macro_tpr + d.macro_tnr - 1; });
}

ThresholdMetric YoudenMicro() {
  return MetricOf(PerClass::kNo, Needs::kAnySide, [](const Decisions& d) {
    return Ratio(d.accepted.correct, d.total.known()) + Ratio(Negatives(d) - FalsePositives(d), Negatives(d)) - 1;
  });
}

ThresholdMetric NaccEq6(double lambda) {
  return MetricOf(PerClass::kNo, Needs::kAnySide, [lambda](const Decisions& d) {
    const double aks =
        (d.accepted.correct + Negatives(d) - FalsePositives(d)) / (static_cast<double>(d.num_classes) * d.total.all());
    const double aus = Ratio(d.total.unknown - d.accepted.unknown, d.total.all() - d.accepted.all());
    return lambda * aks + (1 - lambda) * aus;
  });
}

ThresholdMetric NaccRates(double lambda) {
  return MetricOf(PerClass::kNo, Needs::kBothSides, [lambda](const Decisions& d) {
    return lambda * d.accepted.correct / d.total.known() +
           (1 - lambda) * (d.total.unknown - d.accepted.unknown) / d.total.unknown;
  });
}

ThresholdMetric OpenSetAccuracy() {
  return MetricOf(PerClass::kNo, Needs::kBothSides, [](const Decisions& d) {
    return (static_cast<double>(d.accepted.correct) + d.total.unknown - d.accepted.unknown) / d.total.all();
  });
}

ThresholdMetric NegativeCost(double prevalence, double unknown_cost, double error_cost) {
  return MetricOf(PerClass::kNo, Needs::kBothSides, [prevalence, unknown_cost, error_cost](const Decisions& d) {
    const double known = d.total.known();
    return -(prevalence * unknown_cost * (d.accepted.unknown / static_cast<double>(d.total.unknown)) +
             (1 - prevalence) *
                 ((known - d.accepted.known()) / known + error_cost * (static_cast<double>(d.accepted.wrong) / known)));
  });
}

ThresholdValue BestOverThresholds(const ThresholdMetric& metric, const RankedInput& ranked) {
  return metric.best(ranked);
}

ThresholdValue BestOverGrid(const ThresholdMetric& metric, const RankedInput& ranked, int divisions) {
  ThresholdValue best;
  best.value = -kInfinity;
  DecisionWalk walk(ranked, metric.per_class);
  for (int i = 1; i < divisions; ++i) {
    const double threshold = i * (1.0 / divisions);  // rounded as in the released code
    walk.AcceptUpTo(threshold);
    const double value = metric.value(walk.decisions());
    if (value > best.value) best = {threshold, value, walk.decisions().accepted};
  }
  return best;
}

ThresholdValue AtThreshold(const ThresholdMetric& metric, const RankedInput& ranked, double threshold) {
  DecisionWalk walk(ranked, metric.per_class);
  walk.AcceptUpTo(threshold);
  return {threshold, metric.value(walk.decisions()), walk.decisions().accepted};
}

std::vector<ThresholdValue> OverThresholds(const ThresholdMetric& metric, const RankedInput& ranked) {
  std::vector<ThresholdValue> values;
  DecisionWalk walk(ranked, metric.per_class);
  walk.AcceptUpTo(-kInfinity);
  values.push_back({-kInfinity, metric.value(walk.decisions()), walk.decisions().accepted});
  while (!walk.AtEnd()) {
    const double threshold = ranked.ranking().Score(walk.next_block());
    walk.AcceptNext();
    values.push_back({threshold, metric.value(walk.decisions()), walk.decisions().accepted});
  }
  return values;
}

std::optional<double> ThresholdAcceptingKnown(const RankedInput& ranked, double share) {
  if (ranked.total().known() == 0) return std::nullopt;
  if (share <= 0) return -kInfinity;
  // A share such as 0.95 that rounding has put above k / n still means k of n.
  const double wanted = share * ranked.total().known() * (1 - 1e-12);
  int64_t accepted = 0;
  for (int64_t block = 0; block < ranked.blocks().size(); ++block) {
    accepted += ranked.blocks()[block].known();
    if (accepted > 0 && accepted >= wanted) return ranked.ranking().Score(block);
  }
  return ranked.ranking().Score(static_cast<int64_t>(ranked.blocks().size()) - 1);
}

MetricResult AtOperatingPoint(const ThresholdMetric& metric, const RankedInput& ranked, const OperatingPoint& point) {
  if (metric.needs_both_sides && ranked.total().known() == 0) return AbsentWithoutKnown();
  if (metric.needs_both_sides && ranked.total().unknown == 0) return AbsentWithoutUnknown();
  switch (point.kind_case()) {
    case OperatingPoint::kBestOnGrid:
      return BestOverGrid(metric, ranked, point.best_on_grid().divisions()).value;
    case OperatingPoint::kThreshold:
      return AtThreshold(metric, ranked, point.threshold()).value;
    case OperatingPoint::kKnownAccepted: {
      const std::optional<double> threshold = ThresholdAcceptingKnown(ranked, point.known_accepted());
      if (!threshold.has_value()) return AbsentWithoutKnown();
      return AtThreshold(metric, ranked, *threshold).value;
    }
    case OperatingPoint::KIND_NOT_SET:
    case OperatingPoint::kBest:
      break;
  }
  return BestOverThresholds(metric, ranked).value;
}

Metric Make(const ThresholdMetricSpec& spec, MetricSpec::KindCase kind) {
  const auto at = [&spec](MetricLabel label, ThresholdMetric metric) -> Metric {
    return {With(std::move(label), true, ThresholdText(spec.at())),
            [metric = std::move(metric), at = spec.at()](const RankedInput& ranked) {
              return AtOperatingPoint(metric, ranked, at);
            }};
  };
  switch (kind) {
    case MetricSpec::kOpenSetFMacro:
      return at({"open-set F", "macro"}, OpenSetFMacro());
    case MetricSpec::kOpenSetFMicro:
      return at({"open-set F", "micro"}, OpenSetFMicro());
    case MetricSpec::kYoudenMacro:
      return at({"Youden's J", "macro"}, YoudenMacro());
    case MetricSpec::kYoudenMicro:
      return at({"Youden's J", "micro"}, YoudenMicro());
    default:
      break;
  }
  Metric accuracy = at({"open-set accuracy"}, OpenSetAccuracy());
  accuracy.trials = AllSamples;
  return accuracy;
}

Metric Make(const NaccSpec& spec, MetricSpec::KindCase kind) {
  const bool rates = kind == MetricSpec::kNaccRates;
  return {With(With({"NAcc", rates ? "rates" : "Eq. 6"}, spec.lambda() != 0.5,
                    absl::StrCat("lambda ", Number(spec.lambda()))),
               true, ThresholdText(spec.at())),
          [metric = rates ? NaccRates(spec.lambda()) : NaccEq6(spec.lambda()),
           at = spec.at()](const RankedInput& ranked) { return AtOperatingPoint(metric, ranked, at); }};
}

}  // namespace openset

// Metrics of the decisions at a threshold, and how that threshold is chosen.
#ifndef OPENSET_EVAL_METRICS_THRESHOLD_METRIC_H_
#define OPENSET_EVAL_METRICS_THRESHOLD_METRIC_H_

#include <functional>
#include <optional>
#include <vector>

#include "eval/metrics/decisions.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// A threshold and the metric's value there.
struct ThresholdValue {
  double threshold = 0;
  double value = 0;
  Tally accepted;
};

struct ThresholdMetric {
  std::function<double(const Decisions&)> value;
  std::function<ThresholdValue(const RankedInput&)> best;  // over all thresholds; see BestOverThresholds()
  bool per_class = false;                                  // reads the means over classes
  bool needs_both_sides = false;                           // undefined without known or without unknown samples
};

// Open-set F-score (OpenAUC, Eq. 1): 2 P R / (P + R), where P and R are the means over the known classes (Eq. 2; not
// the mean of the classes' F) or are computed from the classes' summed counts (Eq. 3). Unknown samples contribute only
// as FP and FN of the known classes. In [0, 1], higher is better; 0/0 = 0.
ThresholdMetric OpenSetFMacro();
ThresholdMetric OpenSetFMicro();

// Youden's J (OpenAUC, Eq. 4): TPR + TNR - 1 of the known classes, as means over the classes or from their summed
// counts. In [-1, 1], higher is better; 0/0 = 0.
ThresholdMetric YoudenMacro();
ThresholdMetric YoudenMicro();

// Normalized accuracy (OpenAUC, Eq. 5): lambda AKS + (1 - lambda) AUS, in [0, 1], higher is better.
// As in Eq. 6: AKS = sum (TP_i + TN_i) / sum (TP_i + TN_i + FP_i + FN_i) over the known classes, AUS = the precision
// TP / (TP + FP) of the unknown class; 0/0 = 0.
ThresholdMetric NaccEq6(double lambda = 0.5);
// As in the paper's text: AKS = accepted and correctly classified known samples / known samples, AUS = rejected unknown
// samples / unknown samples. Undefined without known or without unknown samples.
ThresholdMetric NaccRates(double lambda = 0.5);

// Share of all samples with a correct decision: known samples that are accepted and classified correctly, and unknown
// samples that are rejected. At a threshold chosen on validation samples, this is the operational open-set accuracy
// (Cruz et al. 2024). In [0, 1], higher is better. Undefined without known or without unknown samples.
ThresholdMetric OpenSetAccuracy();

// Minus the expected cost (ExpectedCostSpec), so that larger is better. Undefined without known or without unknown
// samples.
ThresholdMetric NegativeCost(double prevalence, double unknown_cost, double error_cost);

// The smallest threshold with the largest value, over -inf and all distinct scores.
ThresholdValue BestOverThresholds(const ThresholdMetric& metric, const RankedInput& ranked);
// The same over the thresholds i / divisions, i = 1 .. divisions - 1.
ThresholdValue BestOverGrid(const ThresholdMetric& metric, const RankedInput& ranked, int divisions);
// Precondition: not NaN.
ThresholdValue AtThreshold(const ThresholdMetric& metric, const RankedInput& ranked, double threshold);
// The value at each threshold, ascending: -inf and all distinct scores.
std::vector<ThresholdValue> OverThresholds(const ThresholdMetric& metric, const RankedInput& ranked);

// The smallest score that at least the share `share`, at most 1, of the known samples does not exceed; -inf for a share
// of 0. Absent without known samples.
std::optional<double> ThresholdAcceptingKnown(const RankedInput& ranked, double share);

// The metric at `point`, or at the best threshold if `point` is empty. Absent if the metric or the threshold is
// undefined.
MetricResult AtOperatingPoint(const ThresholdMetric& metric, const RankedInput& ranked, const OperatingPoint& point);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_THRESHOLD_METRIC_H_

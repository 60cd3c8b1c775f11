// Metrics of the decisions at a threshold, and the threshold they are taken at.
#ifndef OPENSET_EVAL_METRICS_DETECTION_THRESHOLD_METRIC_H_
#define OPENSET_EVAL_METRICS_DETECTION_THRESHOLD_METRIC_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/open_set/decisions.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// A threshold and what comes of it.
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

// Open-set F-score (OpenAUC, Eq. 1): 2 P R / (P + R), with P and R the means over the known classes (Eq. 2; not the
// mean of the classes' F) or from their summed counts (Eq. 3). The unknown class plays no part but through FP and FN of
// the others. In [0, 1], higher is better; 0/0 = 0.
ThresholdMetric OpenSetFMacro();
ThresholdMetric OpenSetFMicro();

// Youden's J (OpenAUC, Eq. 4): TPR + TNR - 1 of the known classes, their means or from their summed counts. In [-1, 1],
// higher is better; 0/0 = 0.
ThresholdMetric YoudenMacro();
ThresholdMetric YoudenMicro();

// Normalized accuracy (OpenAUC, Eq. 5): lambda AKS + (1 - lambda) AUS, in [0, 1], higher is better.
// As Eq. 6 is written: AKS = sum (TP_i + TN_i) / sum (TP_i + TN_i + FP_i + FN_i) over the known classes, AUS the
// precision TP / (TP + FP) of the unknown class; 0/0 = 0.
ThresholdMetric NaccEq6(double lambda = 0.5);
// As its text says: AKS = accepted and correct known samples / known samples, AUS = rejected unknown ones / unknown
// ones. Undefined without known or without unknown samples.
ThresholdMetric NaccRates(double lambda = 0.5);

// Share of all samples that are decided rightly: known ones accepted and classified correctly, unknown ones rejected.
// At a threshold that was chosen on validation samples it is the operational open-set accuracy (Cruz et al. 2024). In
// [0, 1], higher is better. Undefined without known or without unknown samples.
ThresholdMetric OpenSetAccuracy();

// The smallest threshold with the largest value, over -inf and all distinct scores.
ThresholdValue BestOverThresholds(const ThresholdMetric& metric, const RankedInput& ranked);
// The same over i / divisions, i = 1 .. divisions - 1.
ThresholdValue BestOverGrid(const ThresholdMetric& metric, const RankedInput& ranked, int divisions);
// Precondition: not NaN.
ThresholdValue AtThreshold(const ThresholdMetric& metric, const RankedInput& ranked, double threshold);
// One a threshold, ascending: -inf and all distinct scores.
std::vector<ThresholdValue> OverThresholds(const ThresholdMetric& metric, const RankedInput& ranked);

// The smallest score that at least `share` of the known samples do not exceed, at most 1; -inf for a share of 0. Absent
// without known samples.
std::optional<double> ThresholdAcceptingKnown(const RankedInput& ranked, double share);

// The metric at `point`; at the best threshold if that is empty. Absent if the metric or the threshold is undefined.
MetricResult AtOperatingPoint(const ThresholdMetric& metric, const RankedInput& ranked, const OperatingPoint& point);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DETECTION_THRESHOLD_METRIC_H_

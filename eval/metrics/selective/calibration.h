// Calibration of the predicted probabilities, softmax(logits), on the known samples.
#ifndef OPENSET_EVAL_METRICS_SELECTIVE_CALIBRATION_H_
#define OPENSET_EVAL_METRICS_SELECTIVE_CALIBRATION_H_

#include <cstdint>
#include <vector>

#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// All absent without logits and without known samples; lower is better.

// Mean of -ln softmax(z)_y, in nats, in [0, inf). Also absent if the logit of a sample's class is -inf.
MetricResult NegativeLogLikelihood(const RankedInput& ranked);

// Mean of sum over c of (softmax(z)_c - 1[c = y])^2, in [0, 2].
MetricResult BrierScore(const RankedInput& ranked);

enum class BinEdges {
  kRightClosed,  // (low, high]; a confidence of 0 is in no bin
  kLeftClosed,   // [low, high), the last bin closed
};

// A bin of confidence, the softmax(z) of the predicted class. Empty bins have means of 0.
struct CalibrationBin {
  double low = 0;
  double high = 0;
  int64_t samples = 0;
  double confidence = 0;  // mean
  double accuracy = 0;
};
// `bins` bins of equal width on [0, 1]. Empty without logits or known samples. Precondition: bins > 0.
std::vector<CalibrationBin> CalibrationBins(const RankedInput& ranked, int bins,
                                            BinEdges edges = BinEdges::kRightClosed);

// The sum over bins of (samples / known samples) |accuracy - confidence|, in [0, 1].
MetricResult ExpectedCalibrationError(const RankedInput& ranked, int bins = 15,
                                      BinEdges edges = BinEdges::kRightClosed);

// The largest |accuracy - confidence| over the bins that have samples, in [0, 1].
MetricResult MaximumCalibrationError(const RankedInput& ranked, int bins = 15, BinEdges edges = BinEdges::kRightClosed);

// ExpectedCalibrationError() over `bins` bins with equal numbers of samples, by ascending confidence; the first n mod
// bins have one more (torch-uncertainty). Each of several samples with equal confidence counts with their mean
// accuracy.
MetricResult AdaptiveCalibrationError(const RankedInput& ranked, int bins = 15);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_SELECTIVE_CALIBRATION_H_

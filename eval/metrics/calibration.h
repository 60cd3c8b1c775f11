// Calibration of the predicted probabilities, softmax(logits), on the known samples, in bins of confidence.
#ifndef OPENSET_EVAL_METRICS_CALIBRATION_H_
#define OPENSET_EVAL_METRICS_CALIBRATION_H_

#include <cstdint>
#include <vector>

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

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
                                            EceSpec::Edges edges = EceSpec::RIGHT_CLOSED);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_CALIBRATION_H_

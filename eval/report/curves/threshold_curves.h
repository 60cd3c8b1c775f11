// Metrics of the decisions at a threshold, over all thresholds.
#ifndef OPENSET_EVAL_REPORT_CURVES_THRESHOLD_CURVES_H_
#define OPENSET_EVAL_REPORT_CURVES_THRESHOLD_CURVES_H_

#include <string>
#include <vector>

#include "core/chart/plot.h"
#include "core/text/table.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

struct ThresholdCurves {
  // threshold, unknown_rejected (the TPR of the unknown class), known_accepted, and one column for each metric:
  // open_set_f_macro, open_set_f_micro, youden_macro, youden_micro, nacc, nacc_rates.
  Table table;
  // The metrics over unknown_rejected.
  Plot plot;
};

// One row for each threshold: -inf and all distinct scores; evenly spaced ones if there are more than `max_rows`.
// Precondition: there are known and unknown samples, max_rows >= 2.
ThresholdCurves MakeThresholdCurves(const RankedInput& ranked, int max_rows);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_CURVES_THRESHOLD_CURVES_H_

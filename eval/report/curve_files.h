// The curves of an evaluation: their plots, the metrics at each threshold, and the files that contain them.
#ifndef OPENSET_EVAL_REPORT_CURVE_FILES_H_
#define OPENSET_EVAL_REPORT_CURVE_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/chart/vega_lite.h"
#include "core/text/table.h"
#include "eval/metrics/aurc.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// Plots of the curves of an evaluation, with titles, axes and guide lines: for one method (`openset eval --curves`), or
// several methods in one plot (reports, `openset figure`).

struct NamedCurve {
  std::string name;
  std::vector<std::pair<double, double>> points;
  std::vector<std::pair<double, double>> band;  // the interval of y at each point, or empty
};

// A line of its own colour for each curve, in the given order; from the ninth on, lines are dashed. The ROC also has
// the line of chance.
Plot RocPlot(const std::vector<NamedCurve>& curves);
Plot OscrPlot(const std::vector<NamedCurve>& curves);
Plot RiskCoveragePlot(const std::vector<NamedCurve>& curves, RiskSamples::Value over);

struct NamedCounts {
  std::string name;
  std::vector<int64_t> count;  // one for each bin
  int64_t samples = 0;         // all, including those outside the bins
  int color = 0;               // core/chart/vega_lite.h
  bool dashed = false;
};

// Densities over bins of equal width in [low, high]: the area of each is its share of samples in the range. There is
// one bin if low = high. The label of the axis tells how many samples are outside ("3 of 10,000 samples lie outside").
Plot DensityPlot(const std::string& title, double low, double high, const std::vector<NamedCounts>& densities);

// ---- Metrics of the decisions at a threshold, over all thresholds.

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

// ---- Writes the curves of an evaluation to files.

struct CurveFiles {
  // Contents by name: each curve's NAME.csv (every point, full precision), and index.html with all pictures and the
  // summary, which needs no other file.
  std::map<std::string, std::string> files;
  // The plots by NAME, thinned to visible detail: roc, oscr, risk_coverage, risk_coverage_pool, cost, thresholds
  // (metrics of the decisions, at most 1000 rows), score_densities, reliability. Curves that are undefined on the input
  // (no unknown samples, no logits) are omitted.
  std::map<std::string, VegaLite> charts;
};

// `summary` is text. Errors: kNotFound if the program's own files are missing.
absl::StatusOr<CurveFiles> MakeCurveFiles(const RankedInput& ranked, const std::string& title,
                                          const std::string& summary);

struct RankedMethod {
  std::string name;
  const RankedInput* ranked = nullptr;
};

// roc, oscr, risk_coverage, risk_coverage_pool and cost, each with the curves of all methods that have one, and
// index.html. The first column of a .csv is `method`. Densities and thresholds, which depend on one method's scale of
// scores, are omitted. Errors: kNotFound if the program's own files are missing.
absl::StatusOr<CurveFiles> MakeOverlaidCurveFiles(absl::Span<const RankedMethod> methods, const std::string& title,
                                                  const std::string& summary);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_CURVE_FILES_H_

// Plots of the curves of an evaluation, with titles, axes and guide lines: for one method (`openset eval --curves`), or
// several methods in one plot (reports, `openset figure`).
#ifndef OPENSET_EVAL_REPORT_CURVES_CURVE_PLOTS_H_
#define OPENSET_EVAL_REPORT_CURVES_CURVE_PLOTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/chart/plot.h"
#include "eval/metrics/selective/aurc.h"

namespace openset {

struct NamedCurve {
  std::string name;
  std::vector<std::pair<double, double>> points;
  std::vector<std::pair<double, double>> band;  // the interval of y at each point, or empty
};

// A line of its own colour for each curve, in the given order; from the ninth on, lines are dashed. The ROC also has
// the line of chance.
Plot RocPlot(const std::vector<NamedCurve>& curves);
Plot OscrPlot(const std::vector<NamedCurve>& curves);
Plot RiskCoveragePlot(const std::vector<NamedCurve>& curves, RiskOver over);

struct NamedCounts {
  std::string name;
  std::vector<int64_t> count;  // one for each bin
  int64_t samples = 0;         // all, including those outside the bins
  int color = 0;               // core/chart/plot.h
  bool dashed = false;
};

// Densities over bins of equal width in [low, high]: the area of each is its share of samples in the range. There is
// one bin if low = high. The label of the axis tells how many samples are outside ("3 of 10,000 samples lie outside").
Plot DensityPlot(const std::string& title, double low, double high, const std::vector<NamedCounts>& densities);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_CURVES_CURVE_PLOTS_H_

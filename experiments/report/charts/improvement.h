// Bars that show how much better than the baseline each method is (Kim et al. 2023, Fig. 5).
#ifndef OPENSET_EXPERIMENTS_REPORT_CHARTS_IMPROVEMENT_H_
#define OPENSET_EXPERIMENTS_REPORT_CHARTS_IMPROVEMENT_H_

#include <string>
#include <vector>

#include "core/chart/bar_chart.h"
#include "experiments/report/report.h"

namespace openset {

struct ImprovementChart {
  std::string metric;
  std::string name;  // "improvement_pooled_aurc", followed by the task and level if there are several
  BarChart chart;
};

// A bar shows 100 (m - b) / |b| if larger values of the metric are better, and 100 (b - m) / |b| if smaller ones are. m
// is the mean of a row's pool and b that of BaselineRow() (experiments/report/statistics/significance.h), both over the
// runs (split and seed) that the two have in common. There is one chart for each metric with a direction, task and
// level of openness, with a bar for each other row in the order of the tables. "(n=...)" follows its name if some runs
// are not common. A bar is faint if the test of the tables' stars (ReportCell.significance) found no detectable
// difference, and outlined if there was no test (WhyNotTested()); the legend says so. There is no bar if b is 0 or no
// run is common.
std::vector<ImprovementChart> ImprovementCharts(const Report& report, const std::string& baseline);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_CHARTS_IMPROVEMENT_H_

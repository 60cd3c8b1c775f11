// How much better than the baseline each method is, as bars (Kim et al. 2023, Fig. 5).
#ifndef OPENSET_EXPERIMENTS_REPORT_CHARTS_IMPROVEMENT_H_
#define OPENSET_EXPERIMENTS_REPORT_CHARTS_IMPROVEMENT_H_

#include <string>
#include <vector>

#include "core/chart/bar_chart.h"
#include "experiments/report/report.h"

namespace openset {

struct ImprovementChart {
  std::string metric;
  std::string name;  // "improvement_pooled_aurc", and the task and level where there are several
  BarChart chart;
};

// 100 (m - b) / |b| where larger values of the metric are better, 100 (b - m) / |b| where smaller ones are: m the mean
// of a row's pool and b that of BaselineRow() (experiments/report/statistics/significance.h), both over the runs (split
// and seed) that the two have in common. One chart a metric with a direction, task and level of openness, a bar for
// each other row in the order of the tables, with "(n=...)" behind its name where the common runs are not all; faint
// where the test of the tables' stars (ReportCell.significance) found no detectable difference, outlined where there is
// none, as the legend says. No bar where b is 0 or there is no common run.
std::vector<ImprovementChart> ImprovementCharts(const Report& report, const std::string& baseline);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_CHARTS_IMPROVEMENT_H_

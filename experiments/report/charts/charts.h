// Makes plots of records. Like the tables, they are pure functions of trials and records.
#ifndef OPENSET_EXPERIMENTS_REPORT_CHARTS_CHARTS_H_
#define OPENSET_EXPERIMENTS_REPORT_CHARTS_CHARTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/chart/vega_lite.h"
#include "experiments/report/report.h"

namespace openset {

// Adds the mean of the values at x to a line, with a band of their spread on each side (Spread). `splits` has the split
// of each value. Precondition: there are values.
void AddMean(double x, absl::Span<const double> values, absl::Span<const int> splits, Spread spread, PlotSeries* line);

// Limits the bands of a line to possible values: no share is below 0 or above 1.
void LimitBand(double low, double high, PlotSeries* line);

// A plot, its names and its section of the report.
struct ReportChart {
  std::string of;       // "auroc_by_lambda", "loss"
  std::string name;     // `of`, followed by the task if there are several
  std::string section;  // "Sensitivity", "Openness", "Learning curves"
  Plot plot;
};

// Metrics of the pool over a swept field that has at least two numeric values. There is one plot for each task, metric
// and field, with one line for each method (and value of the other fields): the mean over splits and seeds with a band
// of the report's spread on each side, in the unit of the tables. The axis is logarithmic if all values are above 0 and
// span a factor of 50 or more.
std::vector<ReportChart> SensitivityCharts(const Report& report);

// Plots metrics of the pool over openness, for tasks that were measured at two or more levels.
std::vector<ReportChart> OpennessCharts(const Report& report);

// The objective, the training accuracy and the metrics that were measured during training (TrainingSpec.evaluate_every;
// unknown samples of the pool) over epochs. There is one plot for each task (for each level of openness, if unknown
// samples were measured) and quantity, with one line for each method (and values of swept fields): the mean over the
// trials that have a record, with a band of their spread on each side, which the subtitle names. If there are more than
// 512 epochs, or more than 10,000 in all lines together, only evenly spaced ones are shown. Trials without their own
// training have no line.
std::vector<ReportChart> LearningCurves(absl::Span<const TrialResult> results, Spread spread = Spread::kPopulation);

// Bars that show how much better than the baseline each method is (Kim et al. 2023, Fig. 5).

struct ImprovementChart {
  std::string metric;
  std::string name;  // "improvement_pooled_aurc", followed by the task and level if there are several
  BarChart chart;
};

// A bar shows 100 (m - b) / |b| if larger values of the metric are better, and 100 (b - m) / |b| if smaller ones are. m
// is the mean of a row's pool and b the mean of BaselineRow() (experiments/report/statistics.h), both over the runs
// (split and seed) that the two have in common. There is one chart for each metric with a direction, task and level of
// openness, with a bar for each other row in the order of the tables. "(n=...)" follows its name if some runs are not
// common. A bar is faint if the test of the tables' stars (ReportCell.significance) found no detectable difference, and
// outlined if there was no test (WhyNotTested()); the legend says so. There is no bar if b is 0 or no run is common.
std::vector<ImprovementChart> ImprovementCharts(const Report& report, const std::string& baseline);

// Which methods differ over tasks and splits: critical-difference diagrams (eval/report/run_comparison_report.h).

struct RankCharts {
  std::vector<std::pair<std::string, VegaLite>> charts;  // by name: "ranks_auroc"
  std::vector<std::string> lines;  // one for each other tested metric, which says that no difference was found
};

// For each metric of the pool with a direction, ranks the methods (and values of swept fields) on each split of each
// task and level of openness, by the mean over seeds. Draws a diagram if Friedman's test that all are equal rejects at
// 5 %. Leaves out splits on which a method has no value. Returns nothing for fewer than three methods or two splits.
RankCharts MakeRankCharts(const Report& report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_CHARTS_CHARTS_H_

// Records -> plots. Pure functions of trials and records, as the tables are.
#ifndef OPENSET_EXPERIMENTS_REPORT_CHARTS_CHARTS_H_
#define OPENSET_EXPERIMENTS_REPORT_CHARTS_CHARTS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/chart/plot.h"
#include "experiments/report/report.h"

namespace openset {

// Adds the mean of the values at x to a line, in a band of their spread to each side (statistics/spread.h).
// `splits`: that of each value. Precondition: there are values.
void AddMean(double x, absl::Span<const double> values, absl::Span<const int> splits, Spread spread, PlotSeries* line);

// Keeps the bands of a line within what its values can be: no share is below 0 or above 1.
void LimitBand(double low, double high, PlotSeries* line);

// A plot and where it belongs.
struct ReportChart {
  std::string of;       // "auroc_by_lambda", "loss"
  std::string name;     // that, and the task where there are several
  std::string section;  // "Sensitivity", "Openness", "Learning curves"
  Plot plot;
};

// A metric of the pool over a swept field with two or more values that are numbers: one plot a task, metric and field,
// one line a method (and value of the other fields), the mean over splits and seeds with a band of the report's spread
// to each side, in the unit of the tables. Values that span a factor of 50 or more, all above 0, are
// on a logarithmic axis.
std::vector<ReportChart> SensitivityCharts(const Report& report);

// The same over openness, for tasks that were measured at two or more levels.
std::vector<ReportChart> OpennessCharts(const Report& report);

// The objective, the training accuracy and what was measured during training (TrainingSpec.evaluate_every; unknown
// samples of the pool) over epochs: one plot a task (a level of openness of it, where unknown samples were measured)
// and quantity, one line a method (and values of swept fields), the mean over the trials that have a record with a band
// of their spread to each side, which the subtitle names. Of more than 512 epochs, or 10,000 of
// all lines together, evenly spread ones. None for trials without a training of their own.
std::vector<ReportChart> LearningCurves(absl::Span<const TrialResult> results, Spread spread = Spread::kPopulation);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_CHARTS_CHARTS_H_

// Makes plots of records' details (experiments/store/details.proto).
#ifndef OPENSET_EXPERIMENTS_REPORT_CHARTS_DETAIL_CHARTS_H_
#define OPENSET_EXPERIMENTS_REPORT_CHARTS_DETAIL_CHARTS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "experiments/report/charts/charts.h"
#include "experiments/report/report.h"

namespace openset {

// ROC, OSCR, and risk over coverage of the known and of all samples. There is one plot for each task, level of openness
// and curve (and set of unknown samples, if there are several), with one line for each method (and values of swept
// fields). A line of several trials is the mean of their heights at each x, so that the area below it is the mean of
// their areas, to 1e-3. It has a band of the spread of the heights on each side, which the subtitle names. `of` is
// "roc", "oscr", "risk_coverage" or "risk_coverage_pool", for a set "roc_SET" or "oscr_SET". If there are more than 400
// lines, the sets' are left out.
std::vector<ReportChart> CurveCharts(absl::Span<const TrialResult> results, Spread spread = Spread::kPopulation);

// The trial that represents its line in plots that can't be averaged: the first one with details.
struct ExampleTrial {
  std::string line;  // "openauc, lambda 0.1"
  const TrialSpec* trial;
  const TrialRecord* record;
};

// Returns one for each task and line, in the order of the trials; at most `most`.
std::vector<ExampleTrial> ExampleTrials(absl::Span<const TrialResult> results, int most);

// The densities of scores: of correctly and wrongly classified known samples, and of each set of unknown samples. `of`
// is "density_LINE".
std::vector<ReportChart> DensityCharts(const std::vector<ExampleTrial>& examples);

// The same with all near unknown samples as one category and all far ones as another (Kim et al. 2023, Fig. 6), for
// trials whose sets are near or far. `of` is "categories_LINE".
std::vector<ReportChart> CategoryDensityCharts(const std::vector<ExampleTrial>& examples);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_CHARTS_DETAIL_CHARTS_H_

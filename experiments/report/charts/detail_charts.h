// Records' details (experiments/store/details.proto) -> plots.
#ifndef OPENSET_EXPERIMENTS_REPORT_CHARTS_DETAIL_CHARTS_H_
#define OPENSET_EXPERIMENTS_REPORT_CHARTS_DETAIL_CHARTS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "experiments/report/charts/charts.h"
#include "experiments/report/report.h"

namespace openset {

// ROC, OSCR, risk over coverage of the known and of all samples: one plot a task, level of openness and curve (and set
// of unknown samples, if there are several), one line a method (and values of swept fields). A line over several
// trials is the mean of their heights at each x, so that the area below it is the mean of their areas, to 1e-3, in a
// band of the spread of the heights to each side, which the subtitle names. `of`: "roc", "oscr",
// "risk_coverage", "risk_coverage_pool", for a set "roc_SET", "oscr_SET"; of more than 400 lines those of sets are left
// out.
std::vector<ReportChart> CurveCharts(absl::Span<const TrialResult> results, Spread spread = Spread::kPopulation);

// A trial that stands for its line in what cannot be averaged: the first one with details.
struct ExampleTrial {
  std::string line;  // "openauc, lambda 0.1"
  const TrialSpec* trial;
  const TrialRecord* record;
};

// One for each task and line, in the order of the trials; at most `most`.
std::vector<ExampleTrial> ExampleTrials(absl::Span<const TrialResult> results, int most);

// The scores of known samples, right and wrong, and of each set of unknown ones. `of`: "density_LINE".
std::vector<ReportChart> DensityCharts(const std::vector<ExampleTrial>& examples);

// The same with the sets of near unknown samples as one category, and those of far ones (Kim et al. 2023, Fig. 6); of
// trials with sets that are said to be near or far. `of`: "categories_LINE".
std::vector<ReportChart> CategoryDensityCharts(const std::vector<ExampleTrial>& examples);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_CHARTS_DETAIL_CHARTS_H_

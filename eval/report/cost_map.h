// A map of the cheapest of several methods over the prevalence of unknown samples and the cost of accepting one.
#ifndef OPENSET_EVAL_REPORT_COST_MAP_H_
#define OPENSET_EVAL_REPORT_COST_MAP_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "eval/metrics/metric.pb.h"
#include "eval/report/document.h"
#include "eval/report/sample_comparison.h"

namespace openset {

// The cells: each prevalence with each cost, in units of the cost of rejecting a known sample.
absl::Span<const double> CostMapPrevalences();
absl::Span<const double> CostMapCosts();

// The metrics to compare methods by for a map, in the order of its cells, row by row: `cost` at each prevalence and
// cost. Each has a name.
std::vector<MetricSpec> CostMapMetrics(const ExpectedCostSpec& cost);

// Formats a comparison of all pairs of methods by CostMapMetrics(). In each cell, the best method has the least cost
// (the first of equal ones), and the cell is decided if every other method is detectably worse by the comparison's
// verdict, Holm's p-value over the pairs of the cell. Text shows the letter of the best method or, if the cell is not
// decided, the letters of all that are not detectably worse. CSV and JSON have each method's cost in each cell, and its
// test against the best one. Precondition: the format is not kSentence.
std::string FormatCostMap(const SampleComparison& comparison, TextFormat format);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_COST_MAP_H_

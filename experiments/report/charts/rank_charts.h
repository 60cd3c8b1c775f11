// Which methods differ over tasks and splits: critical-difference diagrams (eval/report/critical_difference.h).
#ifndef OPENSET_EXPERIMENTS_REPORT_CHARTS_RANK_CHARTS_H_
#define OPENSET_EXPERIMENTS_REPORT_CHARTS_RANK_CHARTS_H_

#include <string>
#include <utility>
#include <vector>

#include "core/chart/vega_lite.h"
#include "experiments/report/report.h"

namespace openset {

struct RankCharts {
  std::vector<std::pair<std::string, VegaLite>> charts;  // by name: "ranks_auroc"
  std::vector<std::string> lines;  // for each other metric that was tested, a line that no difference was found
};

// For each metric of the pool that has a direction, ranks methods (and values of swept fields) on each split of each
// task and level of openness, by the mean over seeds. A metric has a diagram if the test of all methods being equal
// (Iman and Davenport's, or the exact one) is rejected at 5 %. Splits on which a method has no value are left out.
// Returns nothing for fewer than three methods or two splits.
RankCharts MakeRankCharts(const Report& report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_CHARTS_RANK_CHARTS_H_

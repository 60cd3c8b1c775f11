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
  std::vector<std::string> lines;  // one for each other tested metric, which says that no difference was found
};

// For each metric of the pool with a direction, ranks the methods (and values of swept fields) on each split of each
// task and level of openness, by the mean over seeds. Draws a diagram if the test that all are equal (Iman and
// Davenport's, or the exact one) rejects at 5 %. Leaves out splits on which a method has no value. Returns nothing for
// fewer than three methods or two splits.
RankCharts MakeRankCharts(const Report& report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_CHARTS_RANK_CHARTS_H_

#include "experiments/report/improvement.h"

#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "experiments/report/levels.h"
#include "experiments/report/significance.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/metric_groups.h"

namespace openset {
namespace {

// What one chart is of: a metric and a level.
using Place = std::pair<std::string, Level>;

Place PlaceOf(const ReportCell& cell) { return {cell.metric, LevelOf(cell)}; }

bool IsDrawn(const ReportCell& cell) {
  return cell.group == kPool && cell.n > 0 && cell.display.higher_is_better.has_value() && std::isfinite(cell.mean);
}

}  // namespace

std::vector<ImprovementChart> ImprovementCharts(const Report& report, const std::string& baseline) {
  const std::string row = BaselineRow(report, baseline);
  const LevelTitles titles(report);
  std::map<Place, double> of_baseline;
  for (const ReportCell& cell : report.cells) {
    if (IsDrawn(cell) && cell.mean != 0 && RowName(cell) == row) of_baseline.emplace(PlaceOf(cell), cell.mean);
  }
  std::vector<ImprovementChart> charts;
  std::map<Place, size_t> index;
  for (const ReportCell& cell : report.cells) {
    const auto found = of_baseline.find(PlaceOf(cell));
    if (!IsDrawn(cell) || found == of_baseline.end() || RowName(cell) == row) continue;
    const auto [at, is_new] = index.try_emplace(PlaceOf(cell), charts.size());
    if (is_new) {
      ImprovementChart made;
      made.metric = cell.metric;
      made.name = absl::StrCat("improvement_", cell.metric);
      if (titles.size() > 1) {
        absl::StrAppend(&made.name, "_", cell.task, "_", cell.known_classes, "_", cell.unknown_classes);
        made.chart.title = titles.Of(cell);
      }
      made.chart.label = absl::StrCat("improvement of ", cell.display.label, " over ", row, ", %");
      charts.push_back(std::move(made));
    }
    const double sign = *cell.display.higher_is_better ? 1 : -1;
    BarChart& chart = charts[at->second].chart;
    chart.bars.emplace_back(RowName(cell), 100 * sign * (cell.mean - found->second) / std::abs(found->second));
    if (cell.significance.has_value() && !cell.significance->detectable) chart.faint.push_back(RowName(cell));
  }
  return charts;
}

}  // namespace openset

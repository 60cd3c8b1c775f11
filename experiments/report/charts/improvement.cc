#include "experiments/report/charts/improvement.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "experiments/report/levels.h"
#include "experiments/report/statistics/significance.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

// The looks of the bars. The legend has the ones in the chart.
constexpr char kSolidText[] = "solid: differs (paired t test by split, Holm's p < 0.05)";
constexpr char kFaintText[] = "faint: no detectable difference";

// Means over the runs that both cells have.
struct CommonMeans {
  int n = 0;
  double cell = 0, baseline = 0;
};

CommonMeans MeansOf(const ReportCell& cell, const ReportCell& baseline) {
  std::map<std::pair<int, uint64_t>, double> of_run;
  for (int i = 0; i < baseline.n; ++i) of_run[{baseline.splits[i], baseline.seeds[i]}] = baseline.values[i];
  CommonMeans means;
  for (int i = 0; i < cell.n; ++i) {
    const auto run = of_run.find({cell.splits[i], cell.seeds[i]});
    if (run == of_run.end()) continue;
    ++means.n;
    means.cell += cell.values[i];
    means.baseline += run->second;
  }
  if (means.n > 0) {
    means.cell /= means.n;
    means.baseline /= means.n;
  }
  return means;
}

// The study's number of runs for the cell, done or not.
int RunsOf(const ReportCell& cell) { return cell.n + cell.missing + static_cast<int>(cell.absent_reasons.size()); }

bool IsDrawn(const ReportCell& cell) {
  return cell.group == kPool && cell.n > 0 && cell.display.higher_is_better.has_value() && std::isfinite(cell.mean);
}

}  // namespace

std::vector<ImprovementChart> ImprovementCharts(const Report& report, const std::string& baseline) {
  const std::string row = BaselineRow(report, baseline);
  const LevelTitles titles(report);
  std::map<Place, const ReportCell*> of_baseline;
  for (const ReportCell& cell : report.cells) {
    if (IsDrawn(cell) && RowName(cell) == row) of_baseline.emplace(PlaceOf(cell), &cell);
  }
  std::vector<ImprovementChart> charts;
  std::map<Place, size_t> index;
  std::map<size_t, std::set<std::string>> not_tested;  // lines of the legend by chart
  for (const ReportCell& cell : report.cells) {
    const auto found = of_baseline.find(PlaceOf(cell));
    if (!IsDrawn(cell) || found == of_baseline.end() || RowName(cell) == row) continue;
    const CommonMeans means = MeansOf(cell, *found->second);
    if (means.n == 0 || means.baseline == 0) continue;
    const auto [at, is_new] = index.try_emplace(PlaceOf(cell), charts.size());
    if (is_new) {
      ImprovementChart made;
      made.metric = cell.metric;
      made.name = absl::StrCat("improvement_", cell.metric);
      if (titles.size() > 1) {
        absl::StrAppend(&made.name, "_", cell.task, "_", cell.known_classes, "_", cell.unknown_classes);
        made.chart.title = titles.Of(cell);
      }
      made.chart.label = absl::StrCat("relative ", *cell.display.higher_is_better ? "change" : "reduction", " of ",
                                      cell.display.label, ", % of ", row, "'s");
      charts.push_back(std::move(made));
    }
    const double sign = *cell.display.higher_is_better ? 1 : -1;
    BarChart& chart = charts[at->second].chart;
    std::string name = RowName(cell);
    if (means.n < RunsOf(cell)) absl::StrAppend(&name, " (n=", means.n, ")");
    chart.bars.emplace_back(name, 100 * sign * (means.cell - means.baseline) / std::abs(means.baseline));
    const Significance significance = cell.significance.value_or(Significance());
    if (const std::string why = WhyNotTested(significance); !why.empty()) {
      chart.outlined.push_back(name);
      not_tested[at->second].insert(absl::StrCat("outlined: not tested, ", why));
    } else if (!significance.detectable) {
      chart.faint.push_back(name);
    }
  }
  for (size_t c = 0; c < charts.size(); ++c) {
    BarChart& chart = charts[c].chart;
    if (chart.faint.size() + chart.outlined.size() < chart.bars.size()) chart.legend.emplace_back(kSolidText);
    if (!chart.faint.empty()) chart.legend.emplace_back(kFaintText);
    for (const std::string& line : not_tested[c]) chart.legend.push_back(line);
  }
  return charts;
}

}  // namespace openset

#include "experiments/report/charts/rank_charts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "eval/report/critical_difference.h"
#include "eval/statistics/paired_tests.h"
#include "eval/statistics/several_methods.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

constexpr size_t kMostMethods = 20;  // a diagram of more is illegible, and its tests are slow

using Split = std::tuple<std::string, int, int>;  // task, unknown classes, split

// For one metric: sum and number of values, by split and method.
struct Ranked {
  Display display;
  std::vector<std::string> methods;
  std::map<Split, std::map<std::string, std::pair<double, int>>> splits;
};

}  // namespace

RankCharts MakeRankCharts(const Report& report) {
  std::vector<std::string> order;
  std::map<std::string, Ranked> metrics;
  for (const ReportCell& cell : report.cells) {
    if (cell.group != kPool || !cell.display.higher_is_better.has_value()) continue;
    if (metrics.count(cell.metric) == 0) order.push_back(cell.metric);
    Ranked& ranked = metrics[cell.metric];
    ranked.display = cell.display;
    const std::string method = RowName(cell);
    if (std::find(ranked.methods.begin(), ranked.methods.end(), method) == ranked.methods.end()) {
      ranked.methods.push_back(method);
    }
    for (size_t i = 0; i < cell.values.size(); ++i) {
      auto& [sum, n] = ranked.splits[{cell.task, cell.unknown_classes, cell.splits[i]}][method];
      sum += cell.values[i];
      ++n;
    }
  }
  RankCharts made;
  for (const std::string& metric : order) {
    const Ranked& ranked = metrics[metric];
    std::set<std::string> tasks;
    std::vector<std::vector<double>> values;
    for (const auto& [split, means] : ranked.splits) {
      if (means.size() < ranked.methods.size()) continue;
      tasks.insert(std::get<0>(split));
      std::vector<double>& row = values.emplace_back();
      for (const std::string& method : ranked.methods) row.push_back(means.at(method).first / means.at(method).second);
    }
    if (ranked.methods.size() < 3 || ranked.methods.size() > kMostMethods || values.size() < 2) continue;
    if (values.size() < kFewestReplicates) {
      made.lines.push_back(absl::StrFormat("%s: not tested over all methods: fewer than %d splits (%d).",
                                           ranked.display.label, kFewestReplicates, values.size()));
      continue;
    }
    const absl::StatusOr<FriedmanTest> test = CompareMethods(values, *ranked.display.higher_is_better);
    if (!test.ok()) continue;  // a value is not finite
    const std::string over =
        absl::StrFormat("%d splits of %d task%s", values.size(), tasks.size(), tasks.size() == 1 ? "" : "s");
    if (!test->rejected) {
      made.lines.push_back(absl::StrFormat("%s: over %s no difference between the %d methods was found (p = %.2g).",
                                           ranked.display.label, over, ranked.methods.size(), test->p_value));
      continue;
    }
    made.charts.emplace_back(
        absl::StrCat("ranks_", metric),
        CriticalDifferenceDiagram(absl::StrFormat("%s over %s (p = %.2g)", ranked.display.label, over, test->p_value),
                                  ranked.methods, *test));
  }
  return made;
}

}  // namespace openset

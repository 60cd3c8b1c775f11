#include "experiments/report/charts/charts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "eval/metrics/display.h"
#include "eval/report/run_comparison_report.h"
#include "eval/statistics/paired_tests.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

constexpr size_t kMaxEpochs = 512;    // of a line
constexpr size_t kAllEpochs = 10000;  // of all lines of a page, to keep it small
constexpr size_t kColors = 8;         // distinguishable ones (core/chart/vega_lite.h)
constexpr char kShare[] = "share";    // Display.value_unit of values in [0, 1]
constexpr double kLogFrom = 50;       // the least ratio of largest to smallest value for a logarithmic axis
constexpr size_t kMostTicks = 8;      // at the swept values

// "openauc" or "openauc, alpha 2": a row of the tables without the field of the axis.
std::string LineName(const ReportCell& cell, const std::string& without) {
  std::vector<AxisValue> others;
  for (const AxisValue& value : cell.axis) {
    if (value.name() != without) others.push_back(value);
  }
  return RowName(cell.method, others);
}

// Indices of a plot's lines by their names.
using LinePlaces = std::map<std::string, size_t>;

// Returns the line with this name in a plot. Adds one with a new look if there is none.
PlotSeries* LineOf(const std::string& name, LinePlaces* places, std::vector<PlotSeries>* lines) {
  const auto [place, is_new] = places->try_emplace(name, lines->size());
  if (!is_new) return &(*lines)[place->second];
  PlotSeries line;
  line.name = name;
  line.color = static_cast<int>(lines->size());
  line.dashed = lines->size() >= kColors;
  line.markers = true;
  lines->push_back(std::move(line));
  return &lines->back();
}

void SortByX(PlotSeries* line) {
  std::vector<size_t> order(line->points.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return line->points[a].first < line->points[b].first; });
  PlotSeries sorted = *line;
  for (size_t i = 0; i < order.size(); ++i) {
    sorted.points[i] = line->points[order[i]];
    sorted.band[i] = line->band[order[i]];
  }
  *line = std::move(sorted);
}

void AddCell(const ReportCell& cell, double x, Spread spread, PlotSeries* line) {
  const double factor = cell.display.factor, width = SpreadOf(cell, spread).value_or(0);
  line->points.emplace_back(x, factor * cell.mean);
  line->band.emplace_back(factor * (cell.mean - width), factor * (cell.mean + width));
}

bool Logarithmic(const std::vector<PlotSeries>& lines) {
  double low = 0, high = 0;
  for (const PlotSeries& line : lines) {
    for (const auto& [x, y] : line.points) {
      if (x <= 0) return false;
      low = low == 0 ? x : std::min(low, x);
      high = std::max(high, x);
    }
  }
  return low > 0 && high >= kLogFrom * low;
}

// A plot of the cells with the same key, in order of appearance.
struct PlotOfCells {
  std::string task;
  const ReportCell* first;
  std::string axis;
  std::vector<PlotSeries> lines = {};
  LinePlaces places = {};
};

std::vector<ReportChart> Charts(const std::string& section, std::vector<PlotOfCells> plots, bool name_tasks,
                                Spread spread) {
  std::vector<ReportChart> charts;
  for (PlotOfCells& of : plots) {
    ReportChart chart;
    chart.section = section;
    chart.of = absl::StrCat(of.first->metric, "_by_", of.axis);
    chart.name = name_tasks ? absl::StrCat(chart.of, "_", of.task) : chart.of;
    chart.plot.title = name_tasks ? of.task : "";
    chart.plot.x_label = of.axis;
    chart.plot.y_label = LabelWithUnit(of.first->display);
    chart.plot.series = std::move(of.lines);
    for (PlotSeries& line : chart.plot.series) SortByX(&line);
    if (of.first->display.value_unit == kShare) {
      for (PlotSeries& line : chart.plot.series) LimitBand(0, of.first->display.factor, &line);
    }
    chart.plot.x_log = Logarithmic(chart.plot.series);
    if (of.first->n > 1) chart.plot.subtitle = BandText(spread);
    std::set<double> xs;
    for (const PlotSeries& line : chart.plot.series) {
      for (const auto& point : line.points) xs.insert(point.first);
    }
    if (xs.size() <= kMostTicks && of.axis != "openness") chart.plot.x_ticks = {xs.begin(), xs.end()};
    if (xs.size() >= 2) charts.push_back(std::move(chart));
  }
  return charts;
}

bool SeveralTasks(const Report& report) {
  std::set<std::string> tasks;
  for (const ReportCell& cell : report.cells) tasks.insert(cell.task);
  return tasks.size() > 1;
}

// A quantity over epochs, for the trials of one line.
struct Curve {
  std::string quantity, label, line;
  double factor = 1;
  bool is_share = false;
  std::map<int, std::vector<double>> values;  // by epoch
  std::map<int, std::vector<int>> splits;     // of each value
};

class Curves {
 public:
  void Add(const std::string& quantity, const std::string& label, double factor, bool is_share, const std::string& line,
           int split, int epoch, double value) {
    const auto [at, is_new] = index_.try_emplace({quantity, line}, curves_.size());
    if (is_new) {
      curves_.emplace_back();
      curves_.back().quantity = quantity;
      curves_.back().label = label;
      curves_.back().line = line;
      curves_.back().factor = factor;
      curves_.back().is_share = is_share;
    }
    curves_[at->second].values[epoch].push_back(factor * value);
    curves_[at->second].splits[epoch].push_back(split);
  }
  const std::vector<Curve>& all() const { return curves_; }

 private:
  std::map<std::pair<std::string, std::string>, size_t> index_;
  std::vector<Curve> curves_;
};

// Every `step`-th epoch and the last one.
void DrawCurve(const Curve& curve, size_t step, Spread spread, PlotSeries* line) {
  size_t at = 0;
  for (const auto& [epoch, values] : curve.values) {
    const bool last = at + 1 == curve.values.size();
    if (at++ % step != 0 && !last) continue;
    AddMean(epoch, values, curve.splits.at(epoch), spread, line);
  }
  if (curve.is_share) LimitBand(0, curve.factor, line);
  line->markers = line->points.size() <= 30;
}

}  // namespace

void AddMean(double x, absl::Span<const double> values, absl::Span<const int> splits, Spread spread, PlotSeries* line) {
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  const double width = SpreadOf(values, splits, spread).value_or(0);
  line->points.emplace_back(x, mean);
  line->band.emplace_back(mean - width, mean + width);
}

void LimitBand(double low, double high, PlotSeries* line) {
  for (auto& [lower, upper] : line->band) {
    lower = std::clamp(lower, low, high);
    upper = std::clamp(upper, low, high);
  }
}

std::vector<ReportChart> SensitivityCharts(const Report& report) {
  std::map<std::tuple<std::string, int, std::string, std::string>, size_t> index;
  std::vector<PlotOfCells> plots;
  for (const ReportCell& cell : report.cells) {
    if (cell.group != kPool || cell.n == 0) continue;
    for (const AxisValue& axis : cell.axis) {
      double x = 0;
      if (!absl::SimpleAtod(axis.value(), &x)) continue;
      const auto [at, is_new] =
          index.try_emplace({cell.task, cell.unknown_classes, cell.metric, axis.name()}, plots.size());
      if (is_new) plots.push_back({cell.task, &cell, axis.name()});
      PlotOfCells& plot = plots[at->second];
      AddCell(cell, x, report.spread, LineOf(LineName(cell, axis.name()), &plot.places, &plot.lines));
    }
  }
  return Charts("Sensitivity", std::move(plots), SeveralTasks(report), report.spread);
}

std::vector<ReportChart> OpennessCharts(const Report& report) {
  std::map<std::pair<std::string, std::string>, size_t> index;
  std::vector<PlotOfCells> plots;
  for (const ReportCell& cell : report.cells) {
    if (cell.group != kPool || cell.n == 0) continue;
    const auto [at, is_new] = index.try_emplace({cell.task, cell.metric}, plots.size());
    if (is_new) plots.push_back({cell.task, &cell, "openness"});
    PlotOfCells& plot = plots[at->second];
    AddCell(cell, cell.openness, report.spread, LineOf(RowName(cell), &plot.places, &plot.lines));
  }
  return Charts("Openness", std::move(plots), SeveralTasks(report), report.spread);
}

std::vector<ReportChart> LearningCurves(absl::Span<const TrialResult> results, Spread spread) {
  // The plots of a task or, if unknown samples were measured during training, of one of its levels.
  struct Place {
    std::string suffix, title;
    Curves curves;
  };
  const LevelTitles titles(results);
  std::vector<Place> places;
  std::map<std::string, size_t> place_of;  // by suffix
  for (const TrialResult& result : results) {
    if (result.record == nullptr || result.record->epoch_size() == 0) continue;
    const TrialSpec& trial = *result.trial;
    const bool measured =
        absl::c_any_of(result.record->epoch(), [](const EpochSummary& epoch) { return epoch.metric_size() > 0; });
    const std::string of_task = titles.tasks() > 1 ? absl::StrCat("_", trial.task()) : "";
    const std::string suffix = measured ? titles.SuffixOf(trial) : of_task;
    const auto [place, is_new] = place_of.try_emplace(suffix, places.size());
    if (is_new) places.push_back({suffix, suffix.empty() ? "" : measured ? titles.Of(trial) : trial.task(), {}});
    Curves& curves = places[place->second].curves;
    const std::string line = RowName(trial);
    for (const EpochSummary& epoch : result.record->epoch()) {
      const int number = epoch.epoch() + 1;  // as in progress: the first is 1
      curves.Add("loss", "objective", 1, /*is_share=*/false, line, trial.split(), number, epoch.loss());
      curves.Add("train_accuracy", "training accuracy, %", 100, /*is_share=*/true, line, trial.split(), number,
                 epoch.train_accuracy());
      for (const MetricRecord& metric : epoch.metric()) {
        if (!metric.has_value() || metric.group().kind() != MetricGroup::POOL) continue;
        const Display display = DisplayOf(metric.spec());
        curves.Add(MeasuredName(metric), LabelWithUnit(display), display.factor, display.value_unit == kShare, line,
                   trial.split(), number, metric.value());
      }
    }
  }
  size_t all = 0, longest = 0;
  for (const Place& place : places) {
    for (const Curve& curve : place.curves.all()) {
      all += curve.values.size();
      longest = std::max(longest, curve.values.size());
    }
  }
  const size_t step = std::max((longest + kMaxEpochs - 1) / kMaxEpochs, (all + kAllEpochs - 1) / kAllEpochs);
  std::vector<ReportChart> charts;
  for (const Place& place : places) {
    std::map<std::string, size_t> index;
    std::map<std::string, LinePlaces> lines_of;  // by quantity
    for (const Curve& curve : place.curves.all()) {
      const auto [at, is_new] = index.try_emplace(curve.quantity, charts.size());
      if (is_new) {
        ReportChart chart;
        chart.section = "Learning curves";
        chart.of = curve.quantity;
        chart.name = absl::StrCat(curve.quantity, place.suffix);
        chart.plot.title = place.title;
        chart.plot.x_label = "epoch";
        chart.plot.x_whole = true;
        chart.plot.y_label = curve.label;
        charts.push_back(std::move(chart));
      }
      Plot& plot = charts[at->second].plot;
      DrawCurve(curve, step, spread, LineOf(curve.line, &lines_of[curve.quantity], &plot.series));
      if (curve.values.begin()->second.size() > 1) plot.subtitle = BandText(spread);
    }
  }
  return charts;
}

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
                                      SharedDisplay(cell).label, ", % of ", row, "'s");
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
    ranked.display = SharedDisplay(cell);
    const std::string method = RowName(cell);
    if (std::find(ranked.methods.begin(), ranked.methods.end(), method) == ranked.methods.end()) {
      ranked.methods.push_back(method);
    }
    for (size_t i = 0; i < cell.values.size(); ++i) {
      auto& [sum, n] = ranked.splits[{cell.task, cell.unknown_classes, DrawOf(cell, i)}][method];
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

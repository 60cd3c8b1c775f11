#include "experiments/report/charts/detail_charts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"
#include "data/task.pb.h"
#include "eval/curves/curves.h"
#include "eval/report/curve_files.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/details.pb.h"

namespace openset {
namespace {

constexpr int kGrid = 512;
constexpr double kMaxArea = 5e-4;  // the largest change of area by thinning a line
// The most points of a line, and of all lines of a page, to keep it small.
constexpr int kMaxPoints = 512, kLeastPoints = 12, kAllPoints = 12000;
// With more lines than this, the lines of single sets of unknown samples are omitted.
constexpr int kMostLines = 400;

using Points = std::vector<std::pair<double, double>>;

Points PointsOf(const RecordedCurve& curve) {
  Points points;
  for (int i = 0; i < curve.x_size(); ++i) points.emplace_back(curve.x(i), curve.y(i));
  return points;
}

// The height of the line through the points at i / kGrid; the upper end if the line is vertical there. Before the first
// point, the first point's height.
std::vector<double> Heights(const Points& points) {
  std::vector<double> heights;
  size_t after = 0;  // the first point to the right of x
  for (int i = 0; i <= kGrid; ++i) {
    const double x = static_cast<double>(i) / kGrid;
    while (after < points.size() && points[after].first <= x) ++after;
    double height = points.front().second;
    if (after > 0) {
      const auto& [x0, y0] = points[after - 1];
      height = after == points.size() ? y0 : y0 + (points[after].second - y0) * (x - x0) / (points[after].first - x0);
    }
    heights.push_back(height);
  }
  return heights;
}

// The curves of a method's trials, and the split of each.
struct LineCurves {
  std::string name;
  std::vector<const RecordedCurve*> curves;
  std::vector<int> splits;
};

// The mean of the curves, with a band if there are several.
PlotSeries MeanOf(const LineCurves& line, Spread spread) {
  PlotSeries mean;
  const std::vector<const RecordedCurve*>& curves = line.curves;
  if (curves.size() == 1) {
    mean.points = PointsOf(*curves[0]);
    return mean;
  }
  double first = 0;
  std::vector<double> start;
  std::vector<std::vector<double>> heights;
  for (const RecordedCurve* recorded : curves) {
    const Points curve = PointsOf(*recorded);
    first = std::max(first, curve.front().first);
    start.push_back(curve.front().second);
    heights.push_back(Heights(curve));
  }
  if (first == 0) AddMean(0, start, line.splits, spread, &mean);
  std::vector<double> at_x(curves.size());
  for (int i = 0; i <= kGrid; ++i) {
    const double x = static_cast<double>(i) / kGrid;
    if (x < first) continue;
    for (size_t c = 0; c < curves.size(); ++c) at_x[c] = heights[c][i];
    AddMean(x, at_x, line.splits, spread, &mean);
  }
  LimitBand(0, 1, &mean);  // rates, accuracies and risks
  return mean;
}

NamedCurve ThinnedTo(const std::string& name, const PlotSeries& mean, int most) {
  std::vector<CurvePoint> curve;  // with indices instead of thresholds
  for (const auto& [x, y] : mean.points) curve.push_back({static_cast<double>(curve.size()), x, y});
  NamedCurve thin;
  thin.name = name;
  for (const CurvePoint& point : Thinned(curve, most, kMaxArea)) {
    thin.points.emplace_back(point.x, point.y);
    if (!mean.band.empty()) thin.band.push_back(mean.band[static_cast<size_t>(point.threshold)]);
  }
  return thin;
}

const char* NameOf(RecordedCurve::Kind kind) {
  switch (kind) {
    case RecordedCurve::ROC:
      return "roc";
    case RecordedCurve::OSCR:
      return "oscr";
    case RecordedCurve::RISK_COVERAGE:
      return "risk_coverage";
    case RecordedCurve::RISK_COVERAGE_POOL:
      return "risk_coverage_pool";
    case RecordedCurve::KIND_UNSPECIFIED:
      break;
  }
  return "";
}

Plot PlotOf(RecordedCurve::Kind kind, const std::vector<NamedCurve>& lines) {
  switch (kind) {
    case RecordedCurve::ROC:
      return RocPlot(lines);
    case RecordedCurve::OSCR:
      return OscrPlot(lines);
    case RecordedCurve::RISK_COVERAGE:
      return RiskCoveragePlot(lines, RiskSamples::KNOWN);
    case RecordedCurve::RISK_COVERAGE_POOL:
    case RecordedCurve::KIND_UNSPECIFIED:
      break;
  }
  return RiskCoveragePlot(lines, RiskSamples::POOL);
}

// The curves of one plot, by line in the order of the trials.
struct CurvesOfPlot {
  const TrialSpec* trial;  // one with its level
  std::string set;
  RecordedCurve::Kind kind;
  std::vector<LineCurves> lines;
};

std::vector<CurvesOfPlot> CollectCurves(absl::Span<const TrialResult> results) {
  std::vector<CurvesOfPlot> plots;
  std::map<std::tuple<Level, RecordedCurve::Kind, std::string>, size_t> index;
  std::map<std::pair<size_t, std::string>, size_t> line_index;
  for (const TrialResult& result : results) {
    if (result.record == nullptr) continue;
    const Level level = LevelOf(*result.trial);
    for (const RecordedCurve& curve : result.record->details().curve()) {
      if (curve.x_size() == 0 || curve.x_size() != curve.y_size()) continue;
      const auto [at, is_new] = index.try_emplace({level, curve.kind(), curve.set()}, plots.size());
      if (is_new) plots.push_back({result.trial, curve.set(), curve.kind(), {}});
      auto& lines = plots[at->second].lines;
      const std::string line = RowName(*result.trial);
      const auto [line_at, new_line] = line_index.try_emplace({at->second, line}, lines.size());
      if (new_line) lines.push_back({line, {}, {}});
      lines[line_at->second].curves.push_back(&curve);
      lines[line_at->second].splits.push_back(result.trial->split());
    }
  }
  return plots;
}

// The names of a density's series, and for unknown samples their category: a single set, or all near or far ones.
std::vector<NamedCounts> CountsOf(const ExampleTrial& example, bool by_category) {
  std::map<std::string, UnknownGroup::Distance> distance;
  for (const UnknownGroup& group : example.trial->data().test_unknown()) distance[group.name()] = group.distance();
  const auto category = [&](const std::string& set) -> std::string {
    const UnknownGroup::Distance of_set = distance[set];
    const std::string text = of_set == UnknownGroup::NEAR ? "near" : of_set == UnknownGroup::FAR ? "far" : "";
    if (set.empty()) return "unknown";
    if (by_category) return text.empty() ? set : text;
    return text.empty() ? set : absl::StrCat(set, " (", text, ")");
  };
  std::vector<NamedCounts> counts;
  constexpr int kUnknownColors[] = {1, 3, 2, 5, 6};
  size_t sets = 0;
  for (const ScoreCounts& series : example.record->details().density().series()) {
    NamedCounts named;
    named.count.assign(series.count().begin(), series.count().end());
    named.samples = series.below() + series.above();
    for (const int64_t count : series.count()) named.samples += count;
    if (series.kind() != ScoreCounts::UNKNOWN) {
      const bool right = series.kind() == ScoreCounts::KNOWN_RIGHT;
      named.name = right ? "known, right" : "known, wrong";
      named.color = right ? 0 : 4;
      counts.push_back(std::move(named));
      continue;
    }
    named.name = category(series.set());
    const auto same = absl::c_find_if(counts, [&](const NamedCounts& of) { return of.name == named.name; });
    if (by_category && same != counts.end() && same->count.size() == named.count.size()) {
      for (size_t b = 0; b < named.count.size(); ++b) same->count[b] += named.count[b];
      same->samples += named.samples;
      continue;
    }
    named.color = kUnknownColors[sets % std::size(kUnknownColors)];
    named.dashed = sets++ >= std::size(kUnknownColors);
    counts.push_back(std::move(named));
  }
  return counts;
}

bool HasDistances(const TrialSpec& trial) {
  return absl::c_any_of(trial.data().test_unknown(),
                        [](const UnknownGroup& group) { return group.distance() != UnknownGroup::NOT_SAID; });
}

std::vector<ReportChart> Densities(const std::vector<ExampleTrial>& examples, bool by_category) {
  std::set<std::string> tasks;
  for (const ExampleTrial& example : examples) tasks.insert(example.trial->task());
  std::vector<ReportChart> charts;
  for (const ExampleTrial& example : examples) {
    if (by_category && !HasDistances(*example.trial)) continue;
    const ScoreDensity& density = example.record->details().density();
    const std::vector<NamedCounts> counts = CountsOf(example, by_category);
    if (counts.empty()) continue;
    ReportChart chart;
    chart.section = "Score densities";
    chart.of = absl::StrCat(by_category ? "categories_" : "density_", example.line);
    chart.name = tasks.size() > 1 ? absl::StrCat(chart.of, "_", example.trial->task()) : chart.of;
    const std::string title =
        absl::StrCat(example.line, tasks.size() > 1 ? absl::StrCat(", ", example.trial->task()) : "", ": split ",
                     example.trial->split(), ", seed ", example.trial->seed());
    chart.plot = DensityPlot(title, density.low(), density.high(), counts);
    chart.plot.height = 200;
    charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace

std::vector<ReportChart> CurveCharts(absl::Span<const TrialResult> results, Spread spread) {
  std::vector<CurvesOfPlot> plots = CollectCurves(results);
  std::stable_sort(plots.begin(), plots.end(), [](const CurvesOfPlot& a, const CurvesOfPlot& b) {
    return std::make_pair(!a.set.empty(), a.kind) < std::make_pair(!b.set.empty(), b.kind);
  });
  const LevelTitles titles(results);
  int all_lines = 1;
  for (const CurvesOfPlot& of : plots) all_lines += static_cast<int>(of.lines.size());
  if (all_lines > kMostLines) {
    const auto of_set = [](const CurvesOfPlot& plot) { return !plot.set.empty(); };
    plots.erase(std::remove_if(plots.begin(), plots.end(), of_set), plots.end());
  }
  const int most = std::clamp(kAllPoints / all_lines, kLeastPoints, kMaxPoints);
  std::vector<ReportChart> charts;
  for (const CurvesOfPlot& of : plots) {
    std::vector<NamedCurve> lines(of.lines.size());
    InParallel(static_cast<int64_t>(lines.size()),
               [&](int64_t i) { lines[i] = ThinnedTo(of.lines[i].name, MeanOf(of.lines[i], spread), most); });
    const bool bands = absl::c_any_of(of.lines, [](const LineCurves& line) { return line.curves.size() > 1; });
    ReportChart chart;
    chart.section = "Curves";
    chart.of = of.set.empty() ? NameOf(of.kind) : absl::StrCat(NameOf(of.kind), "_", of.set);
    chart.name = absl::StrCat(chart.of, titles.SuffixOf(*of.trial));
    chart.plot = PlotOf(of.kind, lines);
    if (bands) chart.plot.subtitle = BandText(spread);
    if (!of.set.empty()) absl::StrAppend(&chart.plot.title, ", unknown: ", of.set);
    if (titles.size() > 1) absl::StrAppend(&chart.plot.title, ", ", titles.Of(*of.trial));
    charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<ExampleTrial> ExampleTrials(absl::Span<const TrialResult> results, int most) {
  std::vector<ExampleTrial> examples;
  std::set<std::pair<std::string, std::string>> seen;
  for (const TrialResult& result : results) {
    if (result.record == nullptr || !result.record->has_details() || examples.size() >= static_cast<size_t>(most)) {
      continue;
    }
    const std::string line = RowName(*result.trial);
    if (seen.insert({result.trial->task(), line}).second) examples.push_back({line, result.trial, result.record});
  }
  return examples;
}

std::vector<ReportChart> DensityCharts(const std::vector<ExampleTrial>& examples) { return Densities(examples, false); }

std::vector<ReportChart> CategoryDensityCharts(const std::vector<ExampleTrial>& examples) {
  return Densities(examples, true);
}

}  // namespace openset

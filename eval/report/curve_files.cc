#include "eval/report/curve_files.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/chart/page.h"
#include "core/status_macros.h"
#include "eval/curves/curves.h"
#include "eval/metrics/auroc.h"
#include "eval/metrics/calibration.h"
#include "eval/metrics/metric.h"
#include "eval/metrics/openauc.h"
#include "eval/metrics/threshold_metric.h"

namespace openset {
namespace {

constexpr int kColors = 7;  // for data; the eighth is for guides
constexpr int kGuide = 7;

// Axes from 0 to 1.
Plot Unit(const std::string& title, const std::string& x_label, const std::string& y_label,
          const std::vector<NamedCurve>& curves) {
  Plot plot;
  plot.title = title;
  plot.x_label = x_label;
  plot.y_label = y_label;
  plot.x_high = plot.y_high = 1;
  for (size_t c = 0; c < curves.size(); ++c) {
    PlotSeries line;
    line.name = curves[c].name;
    line.points = curves[c].points;
    line.band = curves[c].band;
    line.color = static_cast<int>(c % kColors);
    line.dashed = c >= kColors;
    plot.series.push_back(std::move(line));
  }
  return plot;
}

}  // namespace

Plot RocPlot(const std::vector<NamedCurve>& curves) {
  Plot plot = Unit("ROC", "unknown samples accepted", "known samples accepted", curves);
  PlotSeries chance;
  chance.name = "by chance";
  chance.points = {{0, 0}, {1, 1}};
  chance.color = kGuide;
  chance.dashed = true;
  plot.series.push_back(std::move(chance));
  return plot;
}

Plot OscrPlot(const std::vector<NamedCurve>& curves) {
  return Unit("OSCR", "unknown samples accepted", "known samples accepted and right", curves);
}

Plot RiskCoveragePlot(const std::vector<NamedCurve>& curves, RiskSamples::Value over) {
  const bool pool = over == RiskSamples::POOL;
  Plot plot = Unit(pool ? "Risk over coverage, all samples" : "Risk over coverage, known samples",
                   "coverage: samples accepted", pool ? "wrong or unknown among them" : "wrong among them", curves);
  plot.y_high = 0;  // from the data
  return plot;
}

Plot CostPlot(const std::vector<NamedCurve>& curves) {
  Plot plot = Unit("Expected cost at the best threshold", "odds of unknown samples times their cost, x / (1 - x)",
                   "cost, over that of deciding all wrong", curves);
  plot.y_high = 0;  // from the data
  return plot;
}

Plot NetBenefitPlot(const std::vector<NamedCurve>& curves) {
  Plot plot = Unit("Net benefit of rejecting at the best threshold", "threshold probability, 1 / (1 + cost)",
                   "net benefit", curves);
  plot.series.back().color = kGuide;  // without a score
  plot.series.back().dashed = true;
  plot.y_high = 0;  // from the data
  return plot;
}

// The mean over x.
MetricResult CostArea(const RankedInput& ranked) {
  const std::vector<CurvePoint> curve = CostCurve(ranked);
  if (curve.empty()) return MetricResult::Absent("no cost curve");
  double area = 0;
  for (size_t i = 1; i < curve.size(); ++i) area += (curve[i].x - curve[i - 1].x) * (curve[i].y + curve[i - 1].y) / 2;
  return area;
}

Plot DensityPlot(const std::string& title, double low, double high, const std::vector<NamedCounts>& densities) {
  Plot plot;
  plot.title = title;
  plot.x_label = "unknown score";
  plot.y_label = "density";
  int64_t outside = 0, all = 0;
  for (const NamedCounts& density : densities) {
    if (density.samples == 0) continue;
    PlotSeries series;
    series.name = density.name;
    series.kind = SeriesKind::kArea;
    series.color = density.color;
    series.dashed = density.dashed;
    const size_t bins = density.count.size();
    const double width = high > low ? (high - low) / static_cast<double>(bins) : 1;
    for (size_t b = 0; b < bins; ++b) {
      const double share = static_cast<double>(density.count[b]) / static_cast<double>(density.samples);
      const double from = high > low ? low + static_cast<double>(b) * width : low;
      const double to = b + 1 == bins ? high : low + static_cast<double>(b + 1) * width;
      if (!series.points.empty() && series.points.back().second == share / width) {
        series.points.back().first = to;  // as high as the previous bin
        continue;
      }
      series.points.emplace_back(from, share / width);
      series.points.emplace_back(to, share / width);
    }
    all += density.samples;
    outside += density.samples - std::accumulate(density.count.begin(), density.count.end(), int64_t{0});
    plot.series.push_back(std::move(series));
  }
  if (outside > 0) absl::StrAppend(&plot.x_label, " (", outside, " of ", all, " samples lie outside)");
  return plot;
}

ThresholdCurves MakeThresholdCurves(const RankedInput& ranked, int max_rows) {
  const struct {
    const char* name;
    const char* label;
    ThresholdMetric metric;
  } metrics[] = {{"open_set_f_macro", "F1 of known classes, macro", OpenSetFMacro()},
                 {"open_set_f_micro", "F1 of known classes, micro", OpenSetFMicro()},
                 {"youden_macro", "Youden's J, macro", YoudenMacro()},
                 {"youden_micro", "Youden's J, micro", YoudenMicro()},
                 {"nacc", "normalised accuracy", NaccEq6()},
                 {"nacc_rates", "normalised accuracy, of rates", NaccRates()}};
  ThresholdCurves curves;
  curves.table.header = {"threshold", "unknown_rejected", "known_accepted"};
  curves.plot.title = "Metrics of the decisions at a threshold";
  curves.plot.x_label = "TPR of the unknown class: unknown samples rejected";
  curves.plot.y_label = "value";
  curves.plot.x_high = curves.plot.y_high = 1;
  const double known = ranked.total().known();
  const double unknown = ranked.total().unknown;
  int color = 0;
  for (const auto& [name, label, metric] : metrics) {
    const std::vector<ThresholdValue> values = OverThresholds(metric, ranked);
    const size_t rows = std::min<size_t>(values.size(), max_rows);
    const bool first = curves.table.rows.empty();
    curves.table.header.push_back(name);
    PlotSeries series;
    series.name = label;
    series.color = color++;
    series.dashed = series.color % 2 == 1;
    for (size_t i = 0; i < rows; ++i) {
      const size_t at = rows == 1 ? 0 : i * (values.size() - 1) / (rows - 1);
      const ThresholdValue& value = values[at];
      const double rejected = 1 - value.accepted.unknown / unknown;
      if (first) {
        curves.table.rows.push_back(
            {FullPrecision(value.threshold), FullPrecision(rejected), FullPrecision(value.accepted.known() / known)});
      }
      curves.table.rows[i].push_back(FullPrecision(value.value));
      series.points.emplace_back(rejected, value.value);
    }
    curves.plot.series.push_back(std::move(series));
  }
  return curves;
}

namespace {

constexpr int kMaxPoints = 512;
constexpr double kMaxArea = 5e-4;  // the largest change of area by thinning a curve
constexpr int kScoreBins = 60;
constexpr int kReliabilityBins = 15;
constexpr char kGuideName[] = "rejecting all or none";

// A curve that can be drawn for several methods in one plot.
struct CurveKind {
  const char* file;
  const char* x;  // columns
  const char* y;
  std::vector<CurvePoint> (*points)(const RankedInput& ranked);  // empty if it is undefined
  const char* line;                                              // its name if there is one method
  const char* area_name;
  MetricResult (*area)(const RankedInput& ranked);
  double factor;
  const char* unit;
  Plot (*plot)(const std::vector<NamedCurve>& curves);
  std::vector<CurvePoint> (*guide)(const RankedInput& ranked) = nullptr;  // another line, the last one
};

std::vector<CurveKind> CurveKinds() {
  return {
      {"roc", "unknown_accepted", "known_accepted", RocCurve, "known against unknown", "AUROC",
       [](const RankedInput& ranked) { return Auroc(ranked); }, 100, " %", RocPlot},
      {"oscr", "unknown_accepted", "known_accepted_and_right", OscrCurve, "OpenAUC", "OpenAUC",
       [](const RankedInput& ranked) { return OpenAuc(ranked); }, 100, " %", OscrPlot},
      {"risk_coverage", "coverage", "risk",
       [](const RankedInput& ranked) { return RiskCoverageCurve(ranked, RiskSamples::KNOWN); }, "AURC x1000",
       "AURC x1000", [](const RankedInput& ranked) { return Aurc(ranked, RiskSamples::KNOWN); }, 1000, "",
       [](const std::vector<NamedCurve>& curves) { return RiskCoveragePlot(curves, RiskSamples::KNOWN); }},
      {"risk_coverage_pool", "coverage", "risk",
       [](const RankedInput& ranked) {
         return ranked.total().unknown == 0 ? std::vector<CurvePoint>() : RiskCoverageCurve(ranked, RiskSamples::POOL);
       },
       "AURC x1000", "AURC x1000", [](const RankedInput& ranked) { return Aurc(ranked, RiskSamples::POOL); }, 1000, "",
       [](const std::vector<NamedCurve>& curves) { return RiskCoveragePlot(curves, RiskSamples::POOL); }},
      {"cost", "probability_cost", "expected_cost", CostCurve, "best threshold", "mean", CostArea, 1, "", CostPlot},
      {"net_benefit", "threshold_probability", "net_benefit", NetBenefitCurve, "best threshold", "",
       [](const RankedInput&) { return MetricResult::Absent("not an area"); }, 1, "", NetBenefitPlot,
       NetBenefitWithoutScore},
  };
}

NamedCurve Line(const std::string& name, const std::vector<CurvePoint>& curve) {
  NamedCurve line{name, {}};
  for (const CurvePoint& point : Thinned(curve, kMaxPoints, kMaxArea)) line.points.emplace_back(point.x, point.y);
  return line;
}

std::string Named(const std::string& name, const std::string& area_name, const CurveKind& kind,
                  const RankedInput& ranked) {
  const MetricResult area = kind.area(ranked);
  if (!area.value.has_value()) return name;
  return absl::StrFormat("%s (%s %.2f%s)", name, area_name, kind.factor * *area.value, kind.unit);
}

struct CurveFile {
  std::string name;
  std::string csv;
  Plot plot;
};

std::vector<std::string> CsvRow(const CurvePoint& point) {
  return {FullPrecision(point.threshold), FullPrecision(point.x), FullPrecision(point.y)};
}

std::optional<CurveFile> OfOne(const CurveKind& kind, const RankedInput& ranked) {
  const std::vector<CurvePoint> curve = kind.points(ranked);
  if (curve.empty()) return std::nullopt;
  Table table{{"threshold", kind.x, kind.y}, {}, 0};
  for (const CurvePoint& point : curve) table.rows.push_back(CsvRow(point));
  std::vector<NamedCurve> lines = {Line(Named(kind.line, "area", kind, ranked), curve)};
  if (kind.guide != nullptr) lines.push_back(Line(kGuideName, kind.guide(ranked)));
  return CurveFile{kind.file, ToCsv(table), kind.plot(lines)};
}

std::optional<CurveFile> OfAll(const CurveKind& kind, absl::Span<const RankedMethod> methods) {
  Table table{{"method", "threshold", kind.x, kind.y}, {}, 1};
  std::vector<NamedCurve> lines;
  for (const RankedMethod& method : methods) {
    const std::vector<CurvePoint> curve = kind.points(*method.ranked);
    if (curve.empty()) continue;
    for (const CurvePoint& point : curve) {
      table.rows.push_back(CsvRow(point));
      table.rows.back().insert(table.rows.back().begin(), method.name);
    }
    lines.push_back(Line(Named(method.name, kind.area_name, kind, *method.ranked), curve));
  }
  if (lines.empty()) return std::nullopt;
  if (kind.guide != nullptr) lines.push_back(Line(kGuideName, kind.guide(*methods.front().ranked)));
  return CurveFile{kind.file, ToCsv(table), kind.plot(lines)};
}

std::optional<CurveFile> Thresholds(const RankedInput& ranked) {
  if (ranked.total().known() == 0 || ranked.total().unknown == 0 || !ranked.input().has_predictions()) {
    return std::nullopt;
  }
  const ThresholdCurves curves = MakeThresholdCurves(ranked, 1000);
  return CurveFile{"thresholds", ToCsv(curves.table), curves.plot};
}

CurveFile Densities(const RankedInput& ranked) {
  struct Kind {
    const char* column;
    const char* name;
    uint32_t Tally::*count;
    int color;
  };
  const std::vector<Kind> kinds =
      ranked.input().has_predictions()
          ? std::vector<Kind>{{"known_right", "known, right", &Tally::correct, 0},
                              {"known_wrong", "known, wrong", &Tally::wrong, 4},
                              {"unknown", "unknown", &Tally::unknown, 1}}
          : std::vector<Kind>{{"known", "known", &Tally::not_judged, 0}, {"unknown", "unknown", &Tally::unknown, 1}};
  const ScoreHistogram histogram = ScoreDensities(ranked, kScoreBins);
  Table table{{"low", "high"}, {}, 0};
  for (const Kind& kind : kinds) table.header.push_back(kind.column);
  const auto row = [&](const std::string& low, const std::string& high, const Tally& count) {
    table.rows.push_back({low, high});
    for (const Kind& kind : kinds) table.rows.back().push_back(absl::StrCat(count.*kind.count));
  };
  if (histogram.below.all() > 0) {
    row("-inf", histogram.bins.empty() ? "-inf" : FullPrecision(histogram.bins.front().low), histogram.below);
  }
  for (const ScoreBin& bin : histogram.bins) row(FullPrecision(bin.low), FullPrecision(bin.high), bin.count);
  if (histogram.above.all() > 0) {
    row(histogram.bins.empty() ? "inf" : FullPrecision(histogram.bins.back().high), "inf", histogram.above);
  }
  const Tally total = ranked.total();
  std::vector<NamedCounts> densities;
  for (const Kind& kind : kinds) {
    NamedCounts density{kind.name, {}, total.*kind.count, kind.color};
    for (const ScoreBin& bin : histogram.bins) density.count.push_back(bin.count.*kind.count);
    densities.push_back(std::move(density));
  }
  const bool finite = !histogram.bins.empty();
  return {"score_densities", ToCsv(table),
          DensityPlot("Scores", finite ? histogram.bins.front().low : 0, finite ? histogram.bins.back().high : 0,
                      densities)};
}

std::optional<CurveFile> Reliability(const RankedInput& ranked) {
  const std::vector<CalibrationBin> bins = CalibrationBins(ranked, kReliabilityBins);
  if (bins.empty()) return std::nullopt;
  Table table{{"low", "high", "samples", "confidence", "accuracy"}, {}, 0};
  Plot plot;
  plot.title = "Reliability, known samples";
  plot.x_label = "confidence: softmax of the prediction";
  plot.y_label = "accuracy";
  plot.x_low = plot.y_low = -0.03;  // whole circles at the edges
  plot.x_high = plot.y_high = 1.03;
  PlotSeries dots;
  dots.name = "bins, larger with more samples";
  dots.kind = SeriesKind::kDots;
  int64_t most = 1;
  for (const CalibrationBin& bin : bins) most = std::max(most, bin.samples);
  for (const CalibrationBin& bin : bins) {
    table.rows.push_back({FullPrecision(bin.low), FullPrecision(bin.high), absl::StrCat(bin.samples),
                          FullPrecision(bin.confidence), FullPrecision(bin.accuracy)});
    if (bin.samples == 0) continue;
    dots.points.emplace_back(bin.confidence, bin.accuracy);
    dots.size.push_back(0.05 + 0.35 * static_cast<double>(bin.samples) / most);
  }
  MetricSpec of_bins;
  of_bins.mutable_ece()->set_bins(kReliabilityBins);
  if (const MetricResult ece = ComputeMetric(of_bins, ranked); ece.value.has_value()) {
    plot.title = absl::StrFormat("%s (ECE %.2f %%)", plot.title, 100 * *ece.value);
  }
  PlotSeries calibrated;
  calibrated.name = "calibrated";
  calibrated.points = {{0, 0}, {1, 1}};
  calibrated.color = 7;
  calibrated.dashed = true;
  plot.series = {std::move(calibrated), std::move(dots)};
  return CurveFile{"reliability", ToCsv(table), plot};
}

absl::StatusOr<CurveFiles> Collect(const std::vector<std::optional<CurveFile>>& curves, const std::string& title,
                                   const std::string& summary) {
  CurveFiles made;
  ChartPage page;
  page.title = title;
  page.body = "<div class=\"charts\">\n";
  for (const std::optional<CurveFile>& curve : curves) {
    if (!curve.has_value()) continue;
    made.files[curve->name + ".csv"] = curve->csv;
    made.charts[curve->name] = ToVegaLite(curve->plot);
    absl::StrAppend(&page.body, "<figure data-chart=\"", curve->name, "\"></figure>\n");
  }
  absl::StrAppend(&page.body, "</div>\n<pre>", EscapeXml(summary), "</pre>\n");
  page.charts = made.charts;
  OPENSET_ASSIGN_OR_RETURN(made.files["index.html"], ToHtml(page));
  return made;
}

}  // namespace

absl::StatusOr<CurveFiles> MakeCurveFiles(const RankedInput& ranked, const std::string& title,
                                          const std::string& summary) {
  std::vector<std::optional<CurveFile>> curves;
  for (const CurveKind& kind : CurveKinds()) curves.push_back(OfOne(kind, ranked));
  curves.push_back(Thresholds(ranked));
  curves.push_back(Densities(ranked));
  curves.push_back(Reliability(ranked));
  return Collect(curves, title, summary);
}

absl::StatusOr<CurveFiles> MakeOverlaidCurveFiles(absl::Span<const RankedMethod> methods, const std::string& title,
                                                  const std::string& summary) {
  std::vector<std::optional<CurveFile>> curves;
  for (const CurveKind& kind : CurveKinds()) curves.push_back(OfAll(kind, methods));
  return Collect(curves, title, summary);
}

}  // namespace openset

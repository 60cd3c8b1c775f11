#include "eval/report/curves/curve_files.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/chart/page.h"
#include "core/chart/plot.h"
#include "core/status_macros.h"
#include "core/text/table.h"
#include "eval/curves/curves.h"
#include "eval/metrics/detection/auroc.h"
#include "eval/metrics/open_set/openauc.h"
#include "eval/metrics/selective/aurc.h"
#include "eval/metrics/selective/calibration.h"
#include "eval/report/curves/curve_plots.h"
#include "eval/report/curves/threshold_curves.h"

namespace openset {
namespace {

constexpr int kMaxPoints = 512;
constexpr double kMaxArea = 5e-4;  // the largest change of area by thinning a curve
constexpr int kScoreBins = 60;
constexpr int kReliabilityBins = 15;

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
};

std::vector<CurveKind> CurveKinds() {
  return {
      {"roc", "unknown_accepted", "known_accepted", RocCurve, "known against unknown", "AUROC",
       [](const RankedInput& ranked) { return Auroc(ranked); }, 100, " %", RocPlot},
      {"oscr", "unknown_accepted", "known_accepted_and_right", OscrCurve, "OpenAUC", "OpenAUC",
       [](const RankedInput& ranked) { return OpenAuc(ranked); }, 100, " %", OscrPlot},
      {"risk_coverage", "coverage", "risk",
       [](const RankedInput& ranked) { return RiskCoverageCurve(ranked, RiskOver::kKnown); }, "AURC x1000",
       "AURC x1000", [](const RankedInput& ranked) { return Aurc(ranked, RiskOver::kKnown); }, 1000, "",
       [](const std::vector<NamedCurve>& curves) { return RiskCoveragePlot(curves, RiskOver::kKnown); }},
      {"risk_coverage_pool", "coverage", "risk",
       [](const RankedInput& ranked) {
         return ranked.total().unknown == 0 ? std::vector<CurvePoint>() : RiskCoverageCurve(ranked, RiskOver::kPool);
       },
       "AURC x1000", "AURC x1000", [](const RankedInput& ranked) { return Aurc(ranked, RiskOver::kPool); }, 1000, "",
       [](const std::vector<NamedCurve>& curves) { return RiskCoveragePlot(curves, RiskOver::kPool); }},
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
  return CurveFile{kind.file, ToCsv(table), kind.plot({Line(Named(kind.line, "area", kind, ranked), curve)})};
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
  if (const MetricResult ece = ExpectedCalibrationError(ranked, kReliabilityBins); ece.value.has_value()) {
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

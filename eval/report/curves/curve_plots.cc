#include "eval/report/curves/curve_plots.h"

#include <cstddef>
#include <numeric>

#include "absl/strings/str_cat.h"

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

Plot RiskCoveragePlot(const std::vector<NamedCurve>& curves, RiskOver over) {
  const bool pool = over == RiskOver::kPool;
  Plot plot = Unit(pool ? "Risk over coverage, all samples" : "Risk over coverage, known samples",
                   "coverage: samples accepted", pool ? "wrong or unknown among them" : "wrong among them", curves);
  plot.y_high = 0;  // from the data
  return plot;
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

}  // namespace openset

#include "core/svg_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace openset {
namespace {

// Okabe and Ito 2008.
constexpr const char* kColors[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                   "#E69F00", "#56B4E9", "#000000", "#999999"};

constexpr double kLeft = 64, kRight = 16, kBottom = 48, kTitle = 26, kLegendLine = 18, kCharacter = 6.6;

struct Range {
  double low = 0;
  double high = 1;
};

// That of the data where none is given, a little wider where all are equal.
Range RangeOf(const Plot& plot, double low, double high, bool of_x) {
  if (low < high) return {low, high};
  low = std::numeric_limits<double>::infinity();
  high = -low;
  for (const PlotSeries& series : plot.series) {
    for (const auto& [x, y] : series.points) {
      const double value = of_x ? x : y;
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (series.kind == SeriesKind::kArea && !of_x) low = std::min(low, 0.0);
  }
  if (!(low <= high)) return {0, 1};
  if (low == high) return {low - 0.5, high + 0.5};
  return {low, high + (of_x ? 0 : 0.04 * (high - low))};
}

// Round numbers within the range, about `count` of them.
std::vector<double> Ticks(const Range& range, int count) {
  const double rough = (range.high - range.low) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1, 2, 5}) {
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (double i = std::ceil(range.low / step - 1e-9); i * step <= range.high + 1e-9 * step && ticks.size() < 100; ++i) {
    ticks.push_back(i == 0 ? 0 : i * step);
  }
  return ticks;
}

// Lines of the legend: indices of series.
std::vector<std::vector<int>> LegendLines(const Plot& plot) {
  std::vector<std::vector<int>> lines;
  double left = 0;
  for (int s = 0; s < plot.series.size(); ++s) {
    if (plot.series[s].name.empty()) continue;
    const double width = 34 + kCharacter * plot.series[s].name.size();
    if (lines.empty() || left < width) {
      lines.emplace_back();
      left = plot.width - kLeft - kRight;
    }
    left -= width;
    lines.back().push_back(s);
  }
  return lines;
}

// Draws into a string.
class Canvas {
 public:
  explicit Canvas(const Plot& plot)
      : plot_(plot),
        legend_(LegendLines(plot)),
        x_(RangeOf(plot, plot.x_low, plot.x_high, true)),
        y_(RangeOf(plot, plot.y_low, plot.y_high, false)),
        top_((plot.title.empty() ? 12 : kTitle) + kLegendLine * static_cast<double>(legend_.size())) {}

  std::string Draw() {
    absl::StrAppendFormat(&svg_,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                          "font-family=\"sans-serif\" font-size=\"12\">\n"
                          "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                          plot_.width, plot_.height, plot_.width, plot_.height);
    if (!plot_.title.empty()) Text(plot_.width / 2.0, 17, "middle", plot_.title, " font-weight=\"bold\"");
    Legend();
    Axes();
    const std::string clip = absl::StrFormat(
        "<svg x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
        "viewBox=\"%.2f %.2f %.2f %.2f\">\n",
        kLeft, top_, Width(), Height(), kLeft, top_, Width(), Height());
    svg_ += clip;  // a nested viewport cuts off what lies outside
    for (const PlotSeries& series : plot_.series) Series(series);
    return svg_ + "</svg>\n</svg>\n";
  }

 private:
  double Width() const { return plot_.width - kLeft - kRight; }
  double Height() const { return plot_.height - top_ - kBottom; }
  double X(double x) const { return kLeft + Width() * (x - x_.low) / (x_.high - x_.low); }
  double Y(double y) const { return top_ + Height() * (y_.high - y) / (y_.high - y_.low); }

  void Text(double x, double y, const char* anchor, const std::string& text, const std::string& more = "") {
    absl::StrAppendFormat(&svg_, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, more,
                          EscapeXml(text));
  }

  static std::string Stroke(const PlotSeries& series) {
    return absl::StrFormat("stroke=\"%s\" stroke-width=\"1.8\"%s", kColors[series.color % std::size(kColors)],
                           series.dashed ? " stroke-dasharray=\"6 4\"" : "");
  }

  void Legend() {
    for (int line = 0; line < legend_.size(); ++line) {
      const double y = top_ - kLegendLine * (static_cast<double>(legend_.size()) - line) + 8;
      double x = kLeft;
      for (const int s : legend_[line]) {
        const PlotSeries& series = plot_.series[s];
        if (series.kind == SeriesKind::kDots) {
          Dot(series, x + 10, y - 4, 5);
        } else {
          absl::StrAppendFormat(&svg_, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" %s/>\n", x, y - 4, x + 20,
                                y - 4, Stroke(series));
        }
        Text(x + 26, y, "start", series.name);
        x += 34 + kCharacter * series.name.size();
      }
    }
  }

  void Axes() {
    for (const double tick : Ticks(x_, std::max(2, plot_.width / 90))) {
      absl::StrAppendFormat(&svg_, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"#e4e4e4\"/>\n",
                            X(tick), top_, X(tick), top_ + Height());
      Text(X(tick), top_ + Height() + 16, "middle", absl::StrFormat("%g", tick));
    }
    for (const double tick : Ticks(y_, std::max(2, plot_.height / 70))) {
      absl::StrAppendFormat(&svg_, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"#e4e4e4\"/>\n",
                            kLeft, Y(tick), kLeft + Width(), Y(tick));
      Text(kLeft - 6, Y(tick) + 4, "end", absl::StrFormat("%g", tick));
    }
    absl::StrAppendFormat(
        &svg_, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" stroke=\"#444\"/>\n", kLeft,
        top_, Width(), Height());
    Text(kLeft + Width() / 2, plot_.height - 12.0, "middle", plot_.x_label);
    const double middle = top_ + Height() / 2;
    Text(15, middle, "middle", plot_.y_label, absl::StrFormat(" transform=\"rotate(-90 15 %.2f)\"", middle));
  }

  void Dot(const PlotSeries& series, double x, double y, double radius) {
    const char* color = kColors[series.color % std::size(kColors)];
    absl::StrAppendFormat(&svg_, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"%s\" stroke=\"%s\"/>\n", x, y,
                          radius, series.hollow ? "white" : color, color);
  }

  void Series(const PlotSeries& series) {
    if (series.kind == SeriesKind::kDots) {
      for (size_t i = 0; i < series.points.size(); ++i) {
        const auto& [x, y] = series.points[i];
        if (!std::isfinite(x) || !std::isfinite(y)) continue;
        Dot(series, X(x), Y(y), series.size.empty() ? 3 : 14 * std::sqrt(std::max(series.size[i], 0.0)));
      }
      return;
    }
    std::string path;
    bool pen_down = false;
    for (const auto& [x, y] : series.points) {
      if (!std::isfinite(x) || !std::isfinite(y)) {
        pen_down = false;
        continue;
      }
      absl::StrAppendFormat(&path, "%s%.2f %.2f", pen_down ? "L" : "M", X(x), Y(y));
      pen_down = true;
    }
    if (path.empty()) return;
    if (series.kind == SeriesKind::kArea) {
      absl::StrAppendFormat(&svg_, "<path d=\"%sL%.2f %.2fL%.2f %.2fZ\" fill=\"%s\" fill-opacity=\"0.25\"/>\n", path,
                            X(series.points.back().first), Y(0), X(series.points.front().first), Y(0),
                            kColors[series.color % std::size(kColors)]);
    }
    absl::StrAppendFormat(&svg_, "<path d=\"%s\" fill=\"none\" %s/>\n", path, Stroke(series));
  }

  const Plot& plot_;
  std::vector<std::vector<int>> legend_;
  Range x_, y_;
  double top_;
  std::string svg_;
};

}  // namespace

std::string EscapeXml(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string ToSvg(const Plot& plot) { return Canvas(plot).Draw(); }

std::string ToSvg(const std::vector<std::vector<Plot>>& rows) {
  std::string content;
  int width = 0, y = 0;
  for (const std::vector<Plot>& row : rows) {
    int x = 0, height = 0;
    for (const Plot& plot : row) {
      absl::StrAppendFormat(&content, "<g transform=\"translate(%d %d)\">\n%s</g>\n", x, y, ToSvg(plot));
      x += plot.width;
      height = std::max(height, plot.height);
    }
    width = std::max(width, x);
    y += height;
  }
  return absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n%s</svg>\n", width,
      y, width, y, content);
}

std::string ToHtmlPage(const std::string& title, const std::vector<std::string>& parts) {
  std::string html = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>", EscapeXml(title),
      "</title>\n<style>\nbody { font-family: sans-serif; margin: 2em; max-width: 1200px; }\n"
      "pre { background: #f6f6f6; padding: 1em; overflow-x: auto; }\nsvg { margin: 0 1em 1em 0; }\n</style>\n</head>\n"
      "<body>\n<h1>",
      EscapeXml(title), "</h1>\n");
  for (const std::string& part : parts) html += part;
  return html + "</body>\n</html>\n";
}

}  // namespace openset

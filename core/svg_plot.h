// Plots as SVG: lines, histograms and dots, nothing more. There is no plotting library for C++ in the registries that
// writes vector files without a window system or an interpreter.
#ifndef OPENSET_CORE_SVG_PLOT_H_
#define OPENSET_CORE_SVG_PLOT_H_

#include <string>
#include <utility>
#include <vector>

namespace openset {

enum class SeriesKind {
  kLine,  // through the points
  kArea,  // the line, and the area below it filled
  kDots,  // a circle at each point, of area proportional to its size
};

struct PlotSeries {
  std::string name;  // in the legend; empty: not there
  SeriesKind kind = SeriesKind::kLine;
  std::vector<std::pair<double, double>> points;  // in data units; those that are not finite break the line
  std::vector<double> size;                       // kDots: one a point, 1 = the largest; empty: all small
  int color = 0;                                  // index into eight colours that the colour-blind can tell apart
  bool dashed = false;
  bool hollow = false;  // kDots: white inside
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  // Ranges of the axes; where low = high, that of the data.
  double x_low = 0, x_high = 0;
  double y_low = 0, y_high = 0;
  std::vector<PlotSeries> series;
  int width = 560;  // pixels, with everything around the axes
  int height = 420;
};

// One <svg> element. What does not fit into the axes is cut off.
std::string ToSvg(const Plot& plot);

// Plots in rows, as one <svg>.
std::string ToSvg(const std::vector<std::vector<Plot>>& rows);

// A whole HTML page, self-contained: `parts` are HTML or SVG.
std::string ToHtmlPage(const std::string& title, const std::vector<std::string>& parts);

// Text with &, <, > and quotes escaped.
std::string EscapeXml(const std::string& text);

}  // namespace openset

#endif  // OPENSET_CORE_SVG_PLOT_H_

// A plot as data: what to draw, not how. core/chart/vega_lite.h turns it into the form that pages and vector files
// share.
#ifndef OPENSET_CORE_CHART_PLOT_H_
#define OPENSET_CORE_CHART_PLOT_H_

#include <string>
#include <utility>
#include <vector>

namespace openset {

enum class SeriesKind {
  kLine,  // through the points, in their order
  kArea,  // through the points by ascending x, with the area below filled
  kDots,  // a circle at each point, of area proportional to its size
};

struct PlotSeries {
  std::string name;  // in the legend; empty: not listed
  SeriesKind kind = SeriesKind::kLine;
  std::vector<std::pair<double, double>> points;  // in data units; those that are not finite break the line
  std::vector<std::pair<double, double>> band;    // kLine: the interval of y at each point; empty: none
  std::vector<double> size;                       // kDots: one per point, 1 = the largest; empty: all small
  int color = 0;                                  // index into eight colours that the colour-blind can tell apart
  bool dashed = false;
  bool hollow = false;   // kDots: not filled
  bool markers = false;  // kLine: a circle at each point
};

struct Plot {
  std::string title;
  std::string subtitle;  // what the lines and bands are
  std::string x_label;
  std::string y_label;
  // Ranges of the axes. If low = high, the range of the data.
  double x_low = 0, x_high = 0;
  double y_low = 0, y_high = 0;
  bool x_log = false;           // points at or below 0 are left out
  bool x_whole = false;         // ticks at whole numbers only
  std::vector<double> x_ticks;  // empty: at round numbers
  std::vector<PlotSeries> series;
  int width = 480;  // pixels of the area between the axes
  int height = 320;
};

}  // namespace openset

#endif  // OPENSET_CORE_CHART_PLOT_H_

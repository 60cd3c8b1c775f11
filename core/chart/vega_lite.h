// Plots, bar charts and heat maps as data, and their form in Vega-Lite, which pages and vector files share.
#ifndef OPENSET_CORE_CHART_VEGA_LITE_H_
#define OPENSET_CORE_CHART_VEGA_LITE_H_

#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

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

// Plots as Vega-Lite 5 specifications, from which both pages (core/chart/page.h) and vector files
// (core/chart/vector_file.h) are drawn.
//
// In a page, a click on a legend entry hides or shows a series, dragging pans, Alt with the wheel zooms, a double click
// resets, and hovering over a point shows its values.

using VegaLite = nlohmann::ordered_json;

// The same plot gives the same bytes. Numbers have 6 significant digits.
VegaLite ToVegaLite(const Plot& plot);

// Plots arranged in rows, without interaction.
VegaLite ToVegaLite(const std::vector<std::vector<Plot>>& rows);

// ---- A chart of named horizontal bars, as Vega-Lite.

struct BarChart {
  std::string title;
  std::string label;  // of the value axis, with the unit
  // In order from the top. Names are unique; numbers are finite.
  std::vector<std::pair<std::string, double>> bars;
  // The names of bars that don't differ significantly from 0 (drawn faint), and of those that were not tested (drawn as
  // outlines).
  std::vector<std::string> faint;
  std::vector<std::string> outlined;
  std::vector<std::string> legend;  // lines above the bars that explain faint and outlined ones
  int width = 480;                  // pixels of the area between the axes
};

// Draws a line at 0; positive bars are blue, negative ones orange. The same chart gives the same bytes.
VegaLite ToVegaLite(const BarChart& chart);

// ---- Tables of numbers drawn as colours, as Vega-Lite.

struct HeatMap {
  std::string title;
  std::string row_label, column_label;  // what the rows and columns are
  // In order from the top and from the left; unique on each side.
  std::vector<std::string> rows, columns;
  std::vector<double> values;  // [rows, columns]; cells that are not finite stay white
  bool show_names = true;      // next to the map; otherwise only in the tooltip
};

// Draws maps in rows with one colour scale, from `low` (dark) to `high`, labelled `label`. Numbers outside the scale
// get the colour of the nearer end. Precondition: low < high. The same maps give the same bytes.
VegaLite ToVegaLite(const std::vector<std::vector<HeatMap>>& maps, double low, double high, const std::string& label);

}  // namespace openset

#endif  // OPENSET_CORE_CHART_VEGA_LITE_H_

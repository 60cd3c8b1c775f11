// A chart of named horizontal bars, as Vega-Lite.
#ifndef OPENSET_CORE_CHART_BAR_CHART_H_
#define OPENSET_CORE_CHART_BAR_CHART_H_

#include <string>
#include <utility>
#include <vector>

#include "core/chart/vega_lite.h"

namespace openset {

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

}  // namespace openset

#endif  // OPENSET_CORE_CHART_BAR_CHART_H_

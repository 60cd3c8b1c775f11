// A chart of horizontal bars with their names, as Vega-Lite.
#ifndef OPENSET_CORE_CHART_BAR_CHART_H_
#define OPENSET_CORE_CHART_BAR_CHART_H_

#include <string>
#include <utility>
#include <vector>

#include "core/chart/vega_lite.h"

namespace openset {

struct BarChart {
  std::string title;
  std::string label;  // of the axis of the numbers, with their unit
  // From the top down. Names differ from each other; numbers are finite.
  std::vector<std::pair<std::string, double>> bars;
  // The names of the faint bars, which don't differ significantly from 0, and of those that are drawn as outlines,
  // which were not tested.
  std::vector<std::string> faint;
  std::vector<std::string> outlined;
  std::vector<std::string> legend;  // lines above the bars: what faint and outlined bars are
  int width = 480;                  // pixels of the area between the axes
};

// A line at 0; bars above it are blue, those below orange. The same chart gives the same bytes.
VegaLite ToVegaLite(const BarChart& chart);

}  // namespace openset

#endif  // OPENSET_CORE_CHART_BAR_CHART_H_

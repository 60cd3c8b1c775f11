// Tables of numbers drawn as colours, as Vega-Lite.
#ifndef OPENSET_CORE_CHART_HEAT_MAP_H_
#define OPENSET_CORE_CHART_HEAT_MAP_H_

#include <string>
#include <vector>

#include "core/chart/vega_lite.h"

namespace openset {

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

#endif  // OPENSET_CORE_CHART_HEAT_MAP_H_

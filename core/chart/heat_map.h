// Tables of numbers as colours, as Vega-Lite.
#ifndef OPENSET_CORE_CHART_HEAT_MAP_H_
#define OPENSET_CORE_CHART_HEAT_MAP_H_

#include <string>
#include <vector>

#include "core/chart/vega_lite.h"

namespace openset {

struct HeatMap {
  std::string title;
  std::string row_label, column_label;  // what the names are of
  // From the top down and from the left; those of one side differ from each other.
  std::vector<std::string> rows, columns;
  std::vector<double> values;  // [rows, columns]; one that is not finite is left white
  bool show_names = true;      // beside the map; else they are said of the place under the pointer
};

// Maps in rows, with one scale of colours from `low` (dark) to `high`, which `label` names; numbers beyond are drawn as
// the end. Precondition: low < high. The same maps give the same bytes.
VegaLite ToVegaLite(const std::vector<std::vector<HeatMap>>& maps, double low, double high, const std::string& label);

}  // namespace openset

#endif  // OPENSET_CORE_CHART_HEAT_MAP_H_

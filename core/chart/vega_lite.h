// Plots as Vega-Lite 5 specifications, from which both pages (core/chart/page.h) and vector files
// (core/chart/vector_file.h) are drawn.
//
// In a page, a click on a legend entry hides or shows a series, dragging pans, Alt with the wheel zooms, a double click
// resets, and hovering over a point shows its values.
#ifndef OPENSET_CORE_CHART_VEGA_LITE_H_
#define OPENSET_CORE_CHART_VEGA_LITE_H_

#include <vector>

#include "core/chart/plot.h"
#include "nlohmann/json.hpp"

namespace openset {

using VegaLite = nlohmann::ordered_json;

// The same plot gives the same bytes. Numbers have 6 significant digits.
VegaLite ToVegaLite(const Plot& plot);

// Plots arranged in rows, without interaction.
VegaLite ToVegaLite(const std::vector<std::vector<Plot>>& rows);

}  // namespace openset

#endif  // OPENSET_CORE_CHART_VEGA_LITE_H_

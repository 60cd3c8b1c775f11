#include "core/chart/heat_map.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace openset {
namespace {

constexpr int kCell = 11, kSmallCell = 6;  // pixels; the small one for maps without names

std::string CsvText(const std::string& text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}, {"\n", " "}}), "\"");
}

VegaLite Unit(const HeatMap& map, double low, double high, const std::string& label) {
  std::string csv = "r,c,v\n";
  for (size_t r = 0; r < map.rows.size(); ++r) {
    for (size_t c = 0; c < map.columns.size(); ++c) {
      const double value = map.values[r * map.columns.size() + c];
      if (!std::isfinite(value)) continue;
      absl::StrAppend(&csv, CsvText(map.rows[r]), ",", CsvText(map.columns[c]), ",", absl::StrFormat("%.4g", value),
                      "\n");
    }
  }
  const auto side = [](const char* field, const std::string& title, const std::vector<std::string>& names) {
    return VegaLite({{"field", field},
                     {"type", "nominal"},
                     {"sort", nullptr},
                     {"title", title},
                     {"scale", {{"domain", names}}},
                     {"axis", {{"labelLimit", 0}, {"labelFontSize", 8}, {"ticks", false}}}});
  };
  VegaLite unit = VegaLite::object();
  if (!map.title.empty()) unit["title"] = map.title;
  const int cell = map.show_names ? kCell : kSmallCell;
  unit["width"] = cell * static_cast<int>(map.columns.size());
  unit["height"] = cell * static_cast<int>(map.rows.size());
  unit["data"] = {{"values", csv}, {"format", {{"type", "csv"}, {"parse", {{"v", "number"}}}}}};
  unit["mark"] = {{"type", "rect"}};
  VegaLite x = side("c", map.column_label, map.columns), y = side("r", map.row_label, map.rows);
  x["axis"]["labelAngle"] = -90;
  for (VegaLite* axis : {&x, &y}) (*axis)["axis"]["labels"] = map.show_names;
  unit["encoding"] = {{"x", x}, {"y", y}};
  unit["encoding"]["color"] = {{"field", "v"},
                               {"type", "quantitative"},
                               {"title", label},
                               {"scale", {{"domain", {low, high}}, {"scheme", "viridis"}, {"clamp", true}}}};
  unit["encoding"]["tooltip"] = VegaLite::array();
  unit["encoding"]["tooltip"].push_back({{"field", "r"}, {"title", map.row_label}});
  unit["encoding"]["tooltip"].push_back({{"field", "c"}, {"title", map.column_label}});
  unit["encoding"]["tooltip"].push_back({{"field", "v"}, {"type", "quantitative"}, {"title", label}});
  return unit;
}

}  // namespace

VegaLite ToVegaLite(const std::vector<std::vector<HeatMap>>& maps, double low, double high, const std::string& label) {
  VegaLite spec = {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"}};
  spec["vconcat"] = VegaLite::array();
  for (const std::vector<HeatMap>& row : maps) {
    VegaLite units = VegaLite::array();
    for (const HeatMap& map : row) units.push_back(Unit(map, low, high, label));
    VegaLite columns = VegaLite::object();
    columns["hconcat"] = units;
    spec["vconcat"].push_back(columns);
  }
  spec["resolve"] = {{"scale", {{"color", "shared"}}}};
  return spec;
}

}  // namespace openset

#include "core/chart/bar_chart.h"

#include <algorithm>

namespace openset {
namespace {

constexpr double kFaint = 0.45, kOutlined = 0;  // opacity of the inside
constexpr int kBar = 18;                        // pixels, including the gap to the next one
// Defined in core/chart/vega_lite.cc.
constexpr const char* kBlue = "#0072B2";
constexpr const char* kOrange = "#D55E00";

}  // namespace

VegaLite ToVegaLite(const BarChart& chart) {
  VegaLite values = VegaLite::array();
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto& [name, value] : chart.bars) {
    const double opacity = is_in(chart.outlined, name) ? kOutlined : is_in(chart.faint, name) ? kFaint : 1;
    values.push_back({{"name", name}, {"value", value}, {"opacity", opacity}});
  }
  const VegaLite x = {{"field", "value"}, {"type", "quantitative"}, {"title", chart.label}};
  const VegaLite y = {
      {"field", "name"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}, {"axis", {{"labelLimit", 0}}}};
  VegaLite bars = {{"mark", {{"type", "bar"}}}};
  bars["encoding"] = {{"x", x}, {"y", y}};
  for (const char* channel : {"fill", "stroke"}) {
    bars["encoding"][channel] = {{"condition", {{"test", "datum.value < 0"}, {"value", kOrange}}}, {"value", kBlue}};
  }
  bars["encoding"]["fillOpacity"] = {
      {"field", "opacity"}, {"type", "quantitative"}, {"scale", nullptr}, {"legend", nullptr}};
  bars["encoding"]["tooltip"] = VegaLite::array();
  bars["encoding"]["tooltip"].push_back({{"field", "name"}, {"title", "method"}});
  bars["encoding"]["tooltip"].push_back(
      {{"field", "value"}, {"type", "quantitative"}, {"title", chart.label}, {"format", ".4~g"}});
  VegaLite zero = {{"mark", {{"type", "rule"}, {"strokeDash", {6, 4}}}}};
  zero["encoding"] = {{"x", {{"datum", 0}}}};
  VegaLite spec = {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"}};
  if (!chart.title.empty()) {
    spec["title"] = {{"text", chart.title}, {"anchor", "start"}};
    if (!chart.legend.empty()) spec["title"]["subtitle"] = chart.legend;
  } else if (!chart.legend.empty()) {  // Vega draws no subtitle without a title
    spec["title"] = {{"text", chart.legend}, {"anchor", "start"}, {"fontSize", 10}, {"fontWeight", "normal"}};
  }
  spec["width"] = chart.width;
  spec["height"] = kBar * std::max<int>(1, static_cast<int>(chart.bars.size()));
  spec["data"] = {{"values", values}};
  spec["layer"] = VegaLite::array();
  spec["layer"].push_back(bars);
  spec["layer"].push_back(zero);
  return spec;
}

}  // namespace openset

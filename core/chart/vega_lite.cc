#include "core/chart/vega_lite.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "core/text/json_text.h"

namespace openset {
namespace {

// The palette of Okabe and Ito 2008, and a grey for references. Black is lightened so that it is visible on dark
// backgrounds.
constexpr const char* kColors[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                   "#E69F00", "#56B4E9", "#5A5A5A", "#999999"};
constexpr double kLargestDot = 900;  // area in square pixels
constexpr int kCirclePadding = 6;    // pixels between the ends of the data and of the axis, for whole circles

VegaLite Object(std::initializer_list<std::pair<const char*, VegaLite>> fields) {
  VegaLite object = VegaLite::object();
  for (const auto& [name, value] : fields) object[name] = value;
  return object;
}

std::string Number(double value) { return std::isfinite(value) ? absl::StrFormat("%.6g", value) : ""; }

std::string CsvText(const std::string& text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}, {"\n", " "}}), "\"");
}

// As many as fit next to each other, at most 3.
int LegendColumns(const Plot& plot) {
  size_t longest = 1;
  for (const PlotSeries& series : plot.series) longest = std::max(longest, series.name.size());
  constexpr int kLetter = 7, kSymbol = 30;  // pixels
  return std::clamp(plot.width / (kLetter * static_cast<int>(longest) + kSymbol), 1, 3);
}

// A layer's name for a series: the series' own, or a unique one if it has none and so is not in the legend.
std::string NameOf(const Plot& plot, size_t s) {
  return plot.series[s].name.empty() ? absl::StrCat("#", s) : plot.series[s].name;
}

bool Drawn(const Plot& plot, double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && (!plot.x_log || x > 0);
}

// One table of all series: s is its name, p the unbroken piece, i the index within it, x, y, and if they exist the
// ends l and h of the band and the area a of the dot.
VegaLite Data(const Plot& plot) {
  std::string csv = "s,k,p,i,x,y,l,h,a\n";
  for (size_t s = 0; s < plot.series.size(); ++s) {
    const PlotSeries& series = plot.series[s];
    const std::string name = CsvText(NameOf(plot, s));
    const char kind = series.kind == SeriesKind::kDots ? 'd' : series.kind == SeriesKind::kArea ? 'a' : 'l';
    int piece = 0;
    for (size_t i = 0; i < series.points.size(); ++i) {
      const auto& [x, y] = series.points[i];
      if (!Drawn(plot, x, y)) {
        ++piece;
        continue;
      }
      const bool band = i < series.band.size();
      absl::StrAppend(&csv, name, ",", std::string(1, kind), ",", piece, ",", i, ",", Number(x), ",", Number(y), ",",
                      band ? Number(series.band[i].first) : "", ",", band ? Number(series.band[i].second) : "", ",");
      absl::StrAppend(&csv,
                      series.kind != SeriesKind::kDots ? ""
                      : series.size.empty()            ? "30"
                                                       : Number(kLargestDot * series.size[i]),
                      "\n");
    }
  }
  VegaLite parse = VegaLite::object();
  for (const char* number : {"p", "i", "x", "y", "l", "h", "a"}) parse[number] = "number";
  return Object({{"values", csv}, {"format", Object({{"type", "csv"}, {"parse", parse}})}});
}

VegaLite Axis(const char* field, const std::string& title, double low, double high, bool log, bool from_zero) {
  VegaLite scale = VegaLite::object();
  if (low < high) {
    scale["domain"] = {low, high};
    scale["nice"] = false;
  } else {
    scale["zero"] = from_zero;
  }
  if (log) scale["type"] = "log";
  VegaLite axis = Object({{"field", field}, {"type", "quantitative"}, {"scale", scale}});
  axis["title"] = title.empty() ? VegaLite() : VegaLite(title);
  return axis;
}

// At whole numbers, at most ten, within the axis: Vega's own tickMinStep does not hold for an axis as short as 0 to 1.
// Empty if there are more whole numbers than that.
VegaLite WholeTicks(const Plot& plot) {
  constexpr int kMost = 10;
  double low = plot.x_low, high = plot.x_high;
  if (!(low < high)) {
    low = std::numeric_limits<double>::infinity();
    high = -low;
    for (const PlotSeries& series : plot.series) {
      for (const auto& [x, y] : series.points) {
        if (!Drawn(plot, x, y)) continue;
        low = std::min(low, x);
        high = std::max(high, x);
      }
    }
  }
  VegaLite ticks = VegaLite::array();
  if (!(high - low < kMost)) return ticks;
  for (double tick = std::ceil(low); tick <= high; ++tick) ticks.push_back(tick);
  return ticks;
}

class Layers {
 public:
  Layers(const Plot& plot, bool interactive) : plot_(plot), interactive_(interactive) {
    bool any_area = false;
    std::set<std::string> seen;
    VegaLite names = VegaLite::array(), colors = VegaLite::array(), dashes = VegaLite::array(),
             in_legend = VegaLite::array();
    for (size_t s = 0; s < plot.series.size(); ++s) {
      any_area |= plot.series[s].kind == SeriesKind::kArea;
      const std::string name = NameOf(plot, s);
      if (!seen.insert(name).second) continue;
      names.push_back(name);
      colors.push_back(kColors[plot.series[s].color % std::size(kColors)]);
      dashes.push_back(plot.series[s].dashed ? VegaLite({6, 4}) : VegaLite({1, 0}));
      if (!plot.series[s].name.empty()) in_legend.push_back(name);
    }
    x_ = Axis("x", plot.x_label, plot.x_low, plot.x_high, plot.x_log, false);
    const auto has_circles = [](const PlotSeries& s) { return s.markers || s.kind == SeriesKind::kDots; };
    if (Has(has_circles) && !(plot.x_low < plot.x_high)) x_["scale"]["padding"] = kCirclePadding;
    if (plot.x_whole) {
      x_["axis"] = Object({{"tickMinStep", 1}, {"format", "d"}});
      if (const VegaLite ticks = WholeTicks(plot); !ticks.empty()) x_["axis"]["values"] = ticks;
    }
    if (!plot.x_ticks.empty()) x_["axis"] = Object({{"values", plot.x_ticks}, {"format", "~g"}});
    y_ = Axis("y", plot.y_label, plot.y_low, plot.y_high, false, any_area);
    VegaLite legend;  // null: none
    if (!in_legend.empty()) {
      legend = Object({{"values", in_legend},
                       {"title", nullptr},
                       {"orient", "top"},
                       {"columns", LegendColumns(plot)},
                       {"symbolLimit", 0},
                       {"labelLimit", 0}});
      if (!Has([](const PlotSeries& s) { return s.kind != SeriesKind::kLine && !s.name.empty(); })) {
        // A piece of the line, long enough for its dashes.
        legend.update(
            Object({{"symbolType", "stroke"}, {"symbolSize", 400}, {"symbolStrokeWidth", 2}, {"symbolOpacity", 1}}));
      }
    }
    color_ = Object({{"field", "s"},
                     {"type", "nominal"},
                     {"scale", Object({{"domain", names}, {"range", colors}})},
                     {"legend", legend}});
    // Of the same field and names, so that it and the colours share one legend, which shows both.
    dash_ = Object({{"field", "s"},
                    {"type", "nominal"},
                    {"scale", Object({{"domain", names}, {"range", dashes}})},
                    {"legend", legend}});
  }

  VegaLite All() {
    if (Has([](const PlotSeries& s) { return s.kind == SeriesKind::kArea; })) {
      // By x, and of equal x in their order: an area with its own order is drawn point by point.
      VegaLite encoding = Encoding();
      encoding["y"]["stack"] = nullptr;
      Add(Object({{"type", "area"}, {"fillOpacity", 0.25}, {"line", true}, {"clip", true}}), "datum.k === 'a'",
          encoding, 1, 0.05);
    }
    if (Has([](const PlotSeries& s) { return !s.band.empty(); })) {
      VegaLite encoding = Encoding();
      encoding["y"] = Object({{"field", "l"}, {"type", "quantitative"}});
      encoding["y2"] = Object({{"field", "h"}});
      encoding["detail"] = Object({{"field", "p"}});
      Add(Object({{"type", "area"}, {"clip", true}}), "datum.k === 'l' && isValid(datum.l)", encoding, 0.18, 0);
    }
    if (Has([](const PlotSeries& s) { return s.kind == SeriesKind::kLine; })) {
      VegaLite encoding = Encoding();
      encoding["order"] = Object({{"field", "i"}, {"type", "quantitative"}});
      encoding["detail"] = Object({{"field", "p"}});
      encoding["strokeDash"] = dash_;
      Add(Object({{"type", "line"}, {"strokeWidth", 1.8}, {"clip", true}}), "datum.k === 'l'", encoding, 1, 0.08);
      // Points for the pointer to hit; visible only in series with markers.
      AddPoints([](const PlotSeries& s) { return s.kind == SeriesKind::kLine && s.markers; }, 36, true);
      if (interactive_) {
        AddPoints([](const PlotSeries& s) { return s.kind == SeriesKind::kLine && !s.markers; }, 90, false);
      }
    }
    for (const bool hollow : {false, true}) {
      const auto of_kind = [hollow](const PlotSeries& s) { return s.kind == SeriesKind::kDots && s.hollow == hollow; };
      if (!Has(of_kind)) continue;
      VegaLite encoding = Encoding();
      encoding["size"] = Object({{"field", "a"}, {"type", "quantitative"}, {"scale", nullptr}, {"legend", nullptr}});
      encoding["tooltip"] = Tooltip();
      Add(Object({{"type", "point"}, {"filled", !hollow}, {"clip", true}}), Among(of_kind), encoding, 1, 0.08);
    }
    return layers_;
  }

 private:
  template <typename Predicate>
  bool Has(const Predicate& predicate) const {
    return std::any_of(plot_.series.begin(), plot_.series.end(), predicate);
  }

  // An expression that is true for the points of these series.
  template <typename Predicate>
  std::string Among(const Predicate& predicate) const {
    VegaLite names = VegaLite::array();
    for (size_t s = 0; s < plot_.series.size(); ++s) {
      if (predicate(plot_.series[s])) names.push_back(NameOf(plot_, s));
    }
    return absl::StrCat("indexof(", JsonText(names), ", datum.s) >= 0");
  }

  VegaLite Encoding() const { return Object({{"x", x_}, {"y", y_}, {"color", color_}}); }

  VegaLite Tooltip() const {
    return VegaLite::array(
        {Object({{"field", "s"}, {"title", "series"}}),
         Object({{"field", "x"}, {"type", "quantitative"}, {"title", plot_.x_label}, {"format", ".5~g"}}),
         Object({{"field", "y"}, {"type", "quantitative"}, {"title", plot_.y_label}, {"format", ".5~g"}})});
  }

  template <typename Predicate>
  void AddPoints(const Predicate& predicate, int size, bool seen) {
    if (!Has(predicate)) return;
    VegaLite encoding = Encoding();
    encoding["tooltip"] = Tooltip();
    Add(Object({{"type", "point"}, {"filled", true}, {"size", size}, {"clip", true}}), Among(predicate), encoding,
        seen ? 1 : 0, 0);
  }

  void Add(const VegaLite& mark, const std::string& filter, VegaLite encoding, double opacity, double hidden) {
    encoding["opacity"] = Object({{"value", opacity}});
    VegaLite layer = VegaLite::object();
    if (interactive_) {
      encoding["opacity"] =
          Object({{"condition", Object({{"param", "shown"}, {"value", opacity}})}, {"value", hidden}});
      if (layers_.empty()) {
        layer["params"] =
            VegaLite::array({Object({{"name", "shown"},
                                     {"select", Object({{"type", "point"}, {"fields", {"s"}}, {"toggle", "true"}})},
                                     {"bind", "legend"}}),
                             Object({{"name", "zoom"},
                                     {"select", Object({{"type", "interval"}, {"zoom", "wheel![event.altKey]"}})},
                                     {"bind", "scales"}})});
      }
    }
    layer["transform"] = VegaLite::array({Object({{"filter", filter}})});
    layer["mark"] = mark;
    layer["encoding"] = std::move(encoding);
    layers_.push_back(std::move(layer));
  }

  const Plot& plot_;
  const bool interactive_;
  VegaLite x_, y_, color_, dash_;
  VegaLite layers_ = VegaLite::array();
};

VegaLite Unit(const Plot& plot, bool interactive) {
  VegaLite unit = VegaLite::object();
  if (!plot.subtitle.empty() && !plot.title.empty()) {
    unit["title"] = Object({{"text", plot.title}, {"subtitle", plot.subtitle}});
  } else if (!plot.subtitle.empty()) {
    unit["title"] = Object({{"text", plot.subtitle}, {"fontWeight", "normal"}});
  } else if (!plot.title.empty()) {
    unit["title"] = plot.title;
  }
  unit["width"] = plot.width;
  unit["height"] = plot.height;
  unit["data"] = Data(plot);
  unit["layer"] = Layers(plot, interactive).All();
  return unit;
}

VegaLite WithSchema(const VegaLite& spec) {
  VegaLite whole = Object({{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"}});
  whole.update(spec);
  return whole;
}

}  // namespace

VegaLite ToVegaLite(const Plot& plot) { return WithSchema(Unit(plot, true)); }

VegaLite ToVegaLite(const std::vector<std::vector<Plot>>& rows) {
  VegaLite columns = VegaLite::array();
  for (const std::vector<Plot>& row : rows) {
    VegaLite units = VegaLite::array();
    for (const Plot& plot : row) units.push_back(Unit(plot, false));
    columns.push_back(Object({{"hconcat", units}}));
  }
  return WithSchema(
      Object({{"vconcat", columns}, {"resolve", Object({{"scale", Object({{"color", "independent"}})}})}}));
}

namespace {

constexpr double kFaint = 0.45, kOutlined = 0;  // opacity of the inside
constexpr int kBar = 18;                        // pixels, including the gap to the next one

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
    bars["encoding"][channel] = {{"condition", {{"test", "datum.value < 0"}, {"value", kColors[1]}}},
                                 {"value", kColors[0]}};
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

namespace {

constexpr int kCell = 11, kSmallCell = 6;  // pixels; the small one for maps without names

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

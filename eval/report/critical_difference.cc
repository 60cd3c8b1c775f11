#include "eval/report/critical_difference.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace openset {
namespace {

constexpr int kWidth = 420;
// In rows of the diagram: the axis is at 0, negative is above it.
constexpr double kTop = -3.3, kDifference = -2.8, kFirstBar = 0.45, kBarStep = 0.4;
constexpr int kRow = 20;  // pixels

// A layer of marks with its own data.
VegaLite Layer(VegaLite values, VegaLite mark, VegaLite encoding) {
  VegaLite layer = VegaLite::object();
  layer["data"]["values"] = std::move(values);
  layer["mark"] = std::move(mark);
  layer["encoding"] = std::move(encoding);
  return layer;
}

}  // namespace

VegaLite CriticalDifferenceDiagram(const std::string& title, const std::vector<std::string>& methods,
                                   const FriedmanTest& test) {
  const int k = static_cast<int>(methods.size());
  const double first_row = kFirstBar + kBarStep * static_cast<double>(test.bars.size()) + 0.6;
  const double last_row = first_row + (k + 1) / 2;
  VegaLite x = {{"field", "x"}, {"type", "quantitative"}, {"scale", {{"domain", {1, k}}, {"nice", false}}}};
  x["axis"] = {{"orient", "top"},      {"values", VegaLite::array()},
               {"title", "mean rank"}, {"offset", kTop * kRow},
               {"grid", false},        {"format", "d"}};
  for (int rank = 1; rank <= k; ++rank) x["axis"]["values"].push_back(rank);
  const VegaLite y = {{"field", "y"},
                      {"type", "quantitative"},
                      {"scale", {{"domain", {last_row, kTop}}, {"nice", false}}},
                      {"axis", nullptr}};
  const VegaLite segment = {{"x", x}, {"x2", {{"field", "x2"}}}, {"y", y}, {"y2", {{"field", "y2"}}}};
  const auto line = [](double x1, double y1, double x2, double y2) {
    return VegaLite({{"x", x1}, {"y", y1}, {"x2", x2}, {"y2", y2}});
  };
  VegaLite thin = VegaLite::array(), bars = VegaLite::array(), left = VegaLite::array(), right = VegaLite::array();
  const double cd_end = std::min(1 + test.critical_difference, static_cast<double>(k));
  // The better half to the left, top down; the worse half to the right, the worst on top.
  for (int place = 0; place < k; ++place) {
    const int method = test.by_rank[place];
    const bool better = place < (k + 1) / 2;
    const double row = first_row + (better ? place : k - 1 - place);
    const double rank = test.mean_rank[method];
    thin.push_back(line(rank, 0, rank, row));
    thin.push_back(line(rank, row, better ? 1 : k, row));
    VegaLite& side = better ? left : right;
    side.push_back({{"x", better ? 1 : k}, {"y", row}, {"text", absl::StrFormat("%s (%.2f)", methods[method], rank)}});
  }
  for (size_t b = 0; b < test.bars.size(); ++b) {
    const double row = kFirstBar + kBarStep * static_cast<double>(b);
    bars.push_back(line(test.mean_rank[test.by_rank[test.bars[b].first]] - 0.03, row,
                        test.mean_rank[test.by_rank[test.bars[b].last]] + 0.03, row));
  }
  const auto words = [](const char* align, int dx) {
    return VegaLite({{"type", "text"}, {"align", align}, {"dx", dx}, {"clip", false}});
  };
  const VegaLite at = {{"x", x}, {"y", y}, {"text", {{"field", "text"}}}};
  VegaLite spec = {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"}, {"title", title}};
  spec["width"] = kWidth;
  spec["height"] = static_cast<int>(kRow * (last_row - kTop));
  spec["view"] = {{"stroke", nullptr}};
  spec["layer"] = VegaLite::array();
  spec["layer"].push_back(Layer(thin, "rule", segment));
  spec["layer"].push_back(Layer(bars, {{"type", "rule"}, {"strokeWidth", 4}}, segment));
  spec["layer"].push_back(Layer(VegaLite::array({line(1, kDifference, cd_end, kDifference)}),
                                {{"type", "rule"}, {"strokeWidth", 2}}, segment));
  spec["layer"].push_back(
      Layer(VegaLite::array({{{"x", cd_end},
                              {"y", kDifference},
                              {"text", absl::StrFormat("critical difference %.2f", test.critical_difference)}}}),
            words("left", 6), at));
  spec["layer"].push_back(Layer(left, words("right", -6), at));
  spec["layer"].push_back(Layer(right, words("left", 6), at));
  return spec;
}

}  // namespace openset

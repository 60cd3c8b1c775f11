#include "eval/report/critical_difference.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "core/svg_plot.h"

namespace openset {
namespace {

constexpr double kWidth = 720, kSide = 190, kAxis = 78, kBarStep = 10, kRow = 22;

}  // namespace

std::string CriticalDifferenceSvg(const std::string& title, const std::vector<std::string>& methods,
                                  const FriedmanTest& test) {
  const int k = static_cast<int>(methods.size());
  const double first_row = kAxis + 24 + kBarStep * static_cast<double>(test.bars.size());
  const double height = first_row + kRow * ((k + 1) / 2) + 10;
  const auto x = [&](double rank) { return kSide + (kWidth - 2 * kSide) * (rank - 1) / std::max(1, k - 1); };
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      kWidth, height, kWidth, height);
  const auto line = [&svg](double x1, double y1, double x2, double y2, double width) {
    absl::StrAppendFormat(&svg,
                          "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"black\" "
                          "stroke-width=\"%g\"/>\n",
                          x1, y1, x2, y2, width);
  };
  const auto text = [&svg](double at, double y, const char* anchor, const std::string& content) {
    absl::StrAppendFormat(&svg, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">%s</text>\n", at, y, anchor,
                          EscapeXml(content));
  };
  text(kWidth / 2, 16, "middle", title);
  const double cd_end = std::min(x(1 + test.critical_difference), kWidth - 10);
  line(x(1), 38, cd_end, 38, 2);
  text(cd_end + 6, 42, "start", absl::StrFormat("critical difference %.2f", test.critical_difference));
  line(x(1), kAxis, x(k), kAxis, 1);
  for (int rank = 1; rank <= k; ++rank) {
    line(x(rank), kAxis - 5, x(rank), kAxis, 1);
    text(x(rank), kAxis - 9, "middle", absl::StrFormat("%d", rank));
  }
  // The better half to the left, top down; the worse half to the right, the worst on top.
  for (int place = 0; place < k; ++place) {
    const int method = test.by_rank[place];
    const bool left = place < (k + 1) / 2;
    const double y = first_row + kRow * (left ? place : k - 1 - place);
    const double rank = test.mean_rank[method];
    const std::string label = absl::StrFormat("%s (%.2f)", methods[method], rank);
    line(x(rank), kAxis, x(rank), y, 1);
    line(x(rank), y, left ? kSide - 14 : kWidth - kSide + 14, y, 1);
    text(left ? kSide - 18 : kWidth - kSide + 18, y + 4, left ? "end" : "start", label);
  }
  for (size_t b = 0; b < test.bars.size(); ++b) {
    const double y = kAxis + 12 + kBarStep * static_cast<double>(b);
    line(x(test.mean_rank[test.by_rank[test.bars[b].first]]) - 4, y,
         x(test.mean_rank[test.by_rank[test.bars[b].last]]) + 4, y, 4);
  }
  return svg + "</svg>\n";
}

}  // namespace openset

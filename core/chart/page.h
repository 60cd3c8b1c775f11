// Pages with plots: one HTML file that needs no network, has a strict content-security policy (scripts by hash, no
// eval), follows the reader's light or dark mode, and draws a plot when it scrolls into view.
#ifndef OPENSET_CORE_CHART_PAGE_H_
#define OPENSET_CORE_CHART_PAGE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/chart/vega_lite.h"

namespace openset {

struct ChartPage {
  std::string title;
  // HTML. Each <figure data-chart="ID"></figure> is filled with the plot of that id.
  std::string body;
  std::map<std::string, VegaLite> charts;  // by ID
  // `openset.data` of the script.
  VegaLite data;
  // JavaScript, run when the page has loaded; `openset.draw(figure)` draws a figure that the script added.
  std::string script;
  std::string style;  // CSS
  // Whether a server serves the page. If so, it may load images and data from that server, but from nowhere else.
  bool is_served = false;
};

struct HtmlPage {
  std::string html;
  std::string policy;  // its content-security policy, which it states itself
};

// About 0.9 MB, most of it Vega; without charts, a few kB. Errors: kNotFound if the program's own files are missing.
absl::StatusOr<HtmlPage> ToHtmlPage(const ChartPage& page);
absl::StatusOr<std::string> ToHtml(const ChartPage& page);

// Text with &, <, > and quotes of both kinds escaped, Printable() (core/text/one_line.h).
std::string EscapeXml(const std::string& text);

// A cell of a table: text, which is escaped, and the path of its link, "" for none.
struct HtmlCell {
  std::string text;
  std::string path = "";
};

std::string CellHtml(const HtmlCell& cell);

// A table; the first `left` columns are aligned to the left.
std::string HtmlTable(const std::vector<std::string>& heads, const std::vector<std::vector<HtmlCell>>& rows, int left);

}  // namespace openset

#endif  // OPENSET_CORE_CHART_PAGE_H_

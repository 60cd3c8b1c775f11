// Parts of the pages of `openset serve`.
#ifndef OPENSET_TOOLS_CLI_SERVE_PAGE_PARTS_H_
#define OPENSET_TOOLS_CLI_SERVE_PAGE_PARTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/chart/page.h"
#include "nlohmann/json.hpp"
#include "tools/cli/serve/http_message.h"

namespace openset {

// A cell of a table: text, which is escaped, and the path of its link (routes.h), "" for none.
struct HtmlCell {
  std::string text;
  std::string path = "";
};

// A table; the first `left` columns are aligned to the left.
std::string HtmlTable(const std::vector<std::string>& heads, const std::vector<std::vector<HtmlCell>>& rows, int left);

std::string HtmlLines(const std::string& text);  // <pre>
std::string HtmlHead(const std::string& text);   // <h2>

// The line of links at the top.
std::string NavigationHtml(const std::vector<HtmlCell>& links);

// The element in which the script shows what runs: on the store, or of the study with this id.
std::string LiveHtml(const std::string& study_id = "");

// Makes the page with the styles of reports. If the page has LiveHtml(), it gets the script, whose first data is
// `live`. Errors: those of ToHtmlPage() (core/chart/page.h).
absl::StatusOr<HttpAnswer> AnswerOf(ChartPage page, const nlohmann::ordered_json* live);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_PAGE_PARTS_H_

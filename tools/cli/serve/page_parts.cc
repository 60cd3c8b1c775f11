#include "tools/cli/serve/page_parts.h"

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"

namespace openset {
namespace {

std::string CellHtml(const HtmlCell& cell) {
  const std::string text = EscapeXml(cell.text);
  return cell.path.empty() ? text : absl::StrCat("<a href=\"", EscapeXml(cell.path), "\">", text, "</a>");
}

}  // namespace

std::string HtmlTable(const std::vector<std::string>& heads, const std::vector<std::vector<HtmlCell>>& rows, int left) {
  std::string html = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>";
  const auto style = [left](size_t column) { return static_cast<int>(column) < left ? " class=\"text\"" : ""; };
  for (size_t c = 0; c < heads.size(); ++c) {
    absl::StrAppend(&html, "<th scope=\"col\"", style(c), ">", EscapeXml(heads[c]), "</th>");
  }
  absl::StrAppend(&html, "</tr></thead>\n<tbody>\n");
  for (const std::vector<HtmlCell>& row : rows) {
    absl::StrAppend(&html, "<tr>");
    for (size_t c = 0; c < row.size(); ++c) absl::StrAppend(&html, "<td", style(c), ">", CellHtml(row[c]), "</td>");
    absl::StrAppend(&html, "</tr>\n");
  }
  return absl::StrCat(html, "</tbody></table></div>\n");
}

std::string HtmlLines(const std::string& text) { return absl::StrCat("<pre>", EscapeXml(text), "</pre>\n"); }
std::string HtmlHead(const std::string& text) { return absl::StrCat("<h2>", EscapeXml(text), "</h2>\n"); }

std::string NavigationHtml(const std::vector<HtmlCell>& links) {
  std::string html = "<nav>";
  for (const HtmlCell& link : links) absl::StrAppend(&html, CellHtml(link), "\n");
  return absl::StrCat(html, "</nav>\n");
}

std::string LiveHtml(const std::string& study_id) {
  return absl::StrCat("<div id=\"news\" role=\"status\"></div>\n<div id=\"runs\"",
                      study_id.empty() ? "" : absl::StrCat(" data-study=\"", EscapeXml(study_id), "\""), "></div>\n");
}

absl::StatusOr<HttpAnswer> AnswerOf(ChartPage page, const nlohmann::ordered_json* live) {
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  const auto read = [&](const char* name) { return ReadFile(JoinPath(runfiles, absl::StrCat("openset/", name))); };
  if (page.style.empty()) {  // otherwise it is a report's
    OPENSET_ASSIGN_OR_RETURN(page.style, read("experiments/report/report_page.css"));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string style, read("tools/cli/serve/serve_page.css"));
  page.style += style;
  if (live != nullptr) {
    OPENSET_ASSIGN_OR_RETURN(const std::string script, read("tools/cli/serve/serve_page.js"));
    page.script += script;
    page.data["live"] = *live;
  }
  page.is_served = true;
  OPENSET_ASSIGN_OR_RETURN(HtmlPage made, ToHtmlPage(page));
  HttpAnswer answer;
  answer.type = "text/html; charset=utf-8";
  answer.body = std::move(made.html);
  answer.policy = std::move(made.policy);
  return answer;
}

}  // namespace openset

#include "core/chart/page.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

// In the order of their dependencies.
constexpr const char* kVega[] = {"vega/build/vega.min.js", "vega/build/vega-lite.min.js",
                                 "vega/build/vega-interpreter.min.js", "vega/build/vega-embed.min.js"};

// JSON that is safe inside a script element, whatever its strings contain.
std::string Embedded(const VegaLite& json) { return absl::StrReplaceAll(JsonText(json), {{"<", "\\u003c"}}); }

std::string HashOf(const std::string& script) {
  const Sha256::Digest digest = Sha256Of(script);
  return absl::StrCat(
      "'sha256-", absl::Base64Escape(std::string(reinterpret_cast<const char*>(digest.data()), digest.size())), "'");
}

}  // namespace

std::string EscapeXml(const std::string& text) {
  return absl::StrReplaceAll(Printable(text),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

absl::StatusOr<HtmlPage> ToHtmlPage(const ChartPage& page) {
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  const bool has_scripts = !page.charts.empty() || !page.script.empty();
  std::vector<std::string> scripts;
  for (const char* name : kVega) {
    if (page.charts.empty()) break;
    OPENSET_ASSIGN_OR_RETURN(scripts.emplace_back(), ReadFile(JoinPath(runfiles, name)));
  }
  if (has_scripts) {
    OPENSET_ASSIGN_OR_RETURN(scripts.emplace_back(), ReadFile(JoinPath(runfiles, "openset/core/chart/page.js")));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string style, ReadFile(JoinPath(runfiles, "openset/core/chart/page.css")));
  if (!page.script.empty()) scripts.push_back(page.script);
  std::string hashes;
  for (std::string& script : scripts) {
    // These scripts contain "</script" only in strings, where this means the same.
    script = absl::StrReplaceAll(script, {{"</script", "<\\/script"}});
    absl::StrAppend(&hashes, " ", HashOf(script));
  }
  VegaLite charts = VegaLite::object();
  for (const auto& [id, chart] : page.charts) charts[id] = chart;
  HtmlPage made;
  made.policy = absl::StrCat("default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; ",
                             page.is_served ? "connect-src 'self'; img-src 'self' data: blob:" : "img-src data: blob:",
                             "; script-src", has_scripts ? hashes : " 'none'");
  made.html = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"",
      made.policy,
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>",
      EscapeXml(page.title), "</title>\n<style>\n", style, page.style, "</style>\n</head>\n<body>\n<h1>",
      EscapeXml(page.title), "</h1>\n", page.body, "\n");
  if (has_scripts) {
    absl::StrAppend(&made.html, "<script type=\"application/json\" id=\"openset-charts\">", Embedded(charts),
                    "</script>\n<script type=\"application/json\" id=\"openset-data\">", Embedded(page.data),
                    "</script>\n");
  }
  for (const std::string& script : scripts) absl::StrAppend(&made.html, "<script>", script, "</script>\n");
  absl::StrAppend(&made.html, "</body>\n</html>\n");
  return made;
}

absl::StatusOr<std::string> ToHtml(const ChartPage& page) {
  OPENSET_ASSIGN_OR_RETURN(HtmlPage made, ToHtmlPage(page));
  return std::move(made.html);
}

std::string CellHtml(const HtmlCell& cell) {
  const std::string text = EscapeXml(cell.text);
  return cell.path.empty() ? text : absl::StrCat("<a href=\"", EscapeXml(cell.path), "\">", text, "</a>");
}

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

}  // namespace openset

#include "core/chart/page.h"

#include <string>
#include <vector>

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

// In the order in which they build on each other.
constexpr const char* kScripts[] = {"vega/build/vega.min.js", "vega/build/vega-lite.min.js",
                                    "vega/build/vega-interpreter.min.js", "vega/build/vega-embed.min.js",
                                    "openset/core/chart/page.js"};

// JSON that can stand in a script element whatever its strings hold.
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

absl::StatusOr<std::string> ToHtml(const ChartPage& page) {
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  std::vector<std::string> scripts;
  for (const char* name : kScripts) {
    OPENSET_ASSIGN_OR_RETURN(scripts.emplace_back(), ReadFile(JoinPath(runfiles, name)));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string style, ReadFile(JoinPath(runfiles, "openset/core/chart/page.css")));
  if (!page.script.empty()) scripts.push_back(page.script);
  std::string hashes;
  for (std::string& script : scripts) {
    // No script of these says "</script" but in a string, where this is the same.
    script = absl::StrReplaceAll(script, {{"</script", "<\\/script"}});
    absl::StrAppend(&hashes, " ", HashOf(script));
  }
  VegaLite charts = VegaLite::object();
  for (const auto& [id, chart] : page.charts) charts[id] = chart;
  std::string html = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src data: blob:; script-src",
      hashes,
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
      EscapeXml(page.title), "</title>\n<style>\n", style, page.style, "</style>\n</head>\n<body>\n<h1>",
      EscapeXml(page.title), "</h1>\n", page.body, "\n<script type=\"application/json\" id=\"openset-charts\">");
  absl::StrAppend(&html, Embedded(charts), "</script>\n<script type=\"application/json\" id=\"openset-data\">",
                  Embedded(page.data), "</script>\n");
  for (const std::string& script : scripts) absl::StrAppend(&html, "<script>", script, "</script>\n");
  return html + "</body>\n</html>\n";
}

}  // namespace openset

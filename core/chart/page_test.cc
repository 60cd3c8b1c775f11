#include "core/chart/page.h"

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(ToHtml, NeedsNoOtherFiles) {
  ChartPage page;
  page.title = "a & b";
  page.body = "<figure data-chart=\"roc\"></figure>";
  page.charts["roc"] = VegaLite::parse(R"({"mark": "point"})");
  const std::string html = ToHtml(page).value();
  EXPECT_THAT(html, HasSubstr("<h1>a &amp; b</h1>"));
  EXPECT_THAT(html, HasSubstr("id=\"openset-charts\">{\"roc\":{\"mark\":\"point\"}}</script>"));
  for (const char* outside : {"src=\"http", "href=\"http", "@import", "unsafe-eval", "script-src 'unsafe-inline'"}) {
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  }
  EXPECT_LT(html.size(), 1'100'000);
}

TEST(ToHtml, DataCannotEndTheScript) {
  ChartPage page;
  page.script = "let a = 1;";
  page.data = VegaLite::parse(R"({"name": "</script><script>alert(1)</script>"})");
  EXPECT_THAT(ToHtml(page).value(), HasSubstr(R"({"name":"\u003c/script>\u003cscript>alert(1)\u003c/script>"})"));
}

// SHA-256 of "let a = 1;" in base64, by `printf 'let a = 1;' | openssl dgst -sha256 -binary | base64`.
TEST(ToHtml, ScriptsAreAllowedByTheirHashes) {
  ChartPage page;
  page.script = "let a = 1;";
  EXPECT_THAT(ToHtml(page).value(), HasSubstr("'sha256-xY6QKfH9PRsQnLz56nj6MBwiK5oHg+im1Jkpdp1x/Ck='"));
}

TEST(ToHtml, NeedsNoScriptWithoutChartsAndScript) {
  const std::string html = ToHtml({"title", "<p>text</p>"}).value();
  EXPECT_THAT(html, HasSubstr("<p>text</p>\n</body>"));
  EXPECT_THAT(html, HasSubstr("; script-src 'none'\">"));
  EXPECT_EQ(html.find("<script"), std::string::npos);
}

// Without charts, it needs no Vega. A served page may only load from its own origin.
TEST(ToHtmlPage, StatesItsPolicy) {
  ChartPage page;
  page.script = "let a = 1;";
  HtmlPage alone = ToHtmlPage(page).value();
  EXPECT_LT(alone.html.size(), 20'000);
  EXPECT_THAT(alone.html, HasSubstr("content=\"" + alone.policy + "\""));
  EXPECT_THAT(alone.policy, HasSubstr("default-src 'none'; base-uri 'none'; form-action 'none'; "));
  EXPECT_THAT(alone.policy, Not(HasSubstr("'self'")));
  page.is_served = true;
  EXPECT_THAT(ToHtmlPage(page).value().policy,
              HasSubstr("; connect-src 'self'; img-src 'self' data: blob:; script-src 'sha256-"));
}

TEST(EscapeXml, Escapes) { EXPECT_EQ(EscapeXml("<a b=\"c\">&"), "&lt;a b=&quot;c&quot;&gt;&amp;"); }

}  // namespace
}  // namespace openset

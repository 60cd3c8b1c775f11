#include "eval/report/document.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

const Document kDocument = {"", {"what was read"}, {{"a title", {{"m", "v"}, {{"a_b", "1"}}, 1}}}, {"absent: x"}};

TEST(FormatDocument, Text) {
  EXPECT_EQ(FormatDocument(kDocument, TextFormat::kText),
            "what was read\n\na title\n\nm    v\n------\na_b  1\n\nabsent: x\n");
  EXPECT_EQ(FormatDocument({"study", {}, {}, {"a", "", "b\nc"}}, TextFormat::kText), "a\n\nb c\n");
}

// A terminal's width doesn't matter for Markdown and LaTeX.
TEST(FormatDocument, OnlyTextWrapsItsLines) {
  const std::string line(100, 'x');
  const Document wide = {"", {line + line + " end"}, {}, {line + " and " + line}};
  EXPECT_EQ(FormatDocument(wide, TextFormat::kText), line + line + "\n  end\n\n" + line + " and\n  " + line + "\n");
  EXPECT_EQ(FormatDocument(wide, TextFormat::kMarkdown), line + line + " end\n\n* " + line + " and " + line + "\n");
  EXPECT_EQ(FormatDocument(wide, TextFormat::kLatex), "% " + line + line + " end\n% " + line + " and " + line + "\n");
}

TEST(FormatDocument, Markdown) {
  EXPECT_EQ(FormatDocument(kDocument, TextFormat::kMarkdown),
            "what was read\n\na title\n\n| m   |   v |\n| :-- | --: |\n| a_b |   1 |\n\n* absent: x\n");
  Document titled = kDocument;
  titled.title = "a study";
  titled.below = {"* differs from <a>, as in `openset compare`", "", "`code`"};
  EXPECT_EQ(FormatDocument(titled, TextFormat::kMarkdown),
            "# a study\n\nwhat was read\n\n## a title\n\n| m   |   v |\n| :-- | --: |\n| a_b |   1 |\n\n"
            "\\* differs from &lt;a>, as in `openset compare`\n\n\\`code\\`\n");
}

TEST(FormatDocument, Latex) {
  const std::string tabular =
      "\\begin{tabular}{lr}\n  \\toprule\n  m & v \\\\\n  \\midrule\n  a\\_b & 1 \\\\\n  "
      "\\bottomrule\n\\end{tabular}\n";
  EXPECT_EQ(FormatDocument(kDocument, TextFormat::kLatex), "% what was read\n% a title\n" + tabular + "% absent: x\n");
  Document titled = kDocument;
  titled.title = "a_study";
  titled.sections[0].note = "as in `openset compare`";
  titled.sections.push_back({"50 %", kDocument.sections[0].table});
  EXPECT_EQ(FormatDocument(titled, TextFormat::kLatex),
            "% needs \\usepackage{booktabs}\n% what was read\n"
            "\\begin{table}\n  \\centering\n  \\caption{a title.}\n  \\label{tab:a-study}\n" +
                tabular +
                "\\par\n{\\footnotesize\\raggedright as in \\texttt{openset compare}\\par}\n\\end{table}\n"
                "\\begin{table}\n  \\centering\n  \\caption{50 \\%.}\n  \\label{tab:a-study-2}\n" +
                tabular + "\\end{table}\n{\\footnotesize absent: x\\par}\n");
}

TEST(ParseTextFormat, Names) {
  const std::vector<TextFormat> known = {TextFormat::kText, TextFormat::kLatex, TextFormat::kJson};
  EXPECT_EQ(*ParseTextFormat("latex", known), TextFormat::kLatex);
  EXPECT_EQ(ParseTextFormat("jsn", known).status().message(),
            "unknown format 'jsn'; did you mean 'json'? (known: text, latex, json)");
  EXPECT_EQ(ParseTextFormat("csv", known).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(JsonToCsv, WritesTheNamedMembers) {
  const nlohmann::ordered_json rows = {{{"a", "x, \"y\""}, {"b", 0.1}, {"c", 3}, {"d", true}},
                                       {{"b", nullptr}, {"c", {0.5, 2, "z"}}}};
  EXPECT_EQ(JsonToCsv("c,a,b,d", rows), "c,a,b,d\n3,\"x, \"\"y\"\"\",0.1,true\n0.5 2 z,,,\n");
}

}  // namespace
}  // namespace openset

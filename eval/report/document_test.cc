#include "eval/report/document.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

const Document kDocument = {{"what was read"}, {{"a title", {{"m", "v"}, {{"a_b", "1"}}, 1}}}, {"absent: x"}};

TEST(FormatDocument, Text) {
  EXPECT_EQ(FormatDocument(kDocument, TextFormat::kText),
            "what was read\n\na title\n\nm    v\n------\na_b  1\n\nabsent: x\n");
}

// A terminal's width doesn't matter for Markdown and LaTeX.
TEST(FormatDocument, OnlyTextWrapsItsLines) {
  const std::string line(100, 'x');
  const Document wide = {{line + line + " end"}, {}, {line + " and " + line}};
  EXPECT_EQ(FormatDocument(wide, TextFormat::kText), line + line + "\n  end\n\n" + line + " and\n  " + line + "\n");
  EXPECT_EQ(FormatDocument(wide, TextFormat::kMarkdown), line + line + " end\n\n* " + line + " and " + line + "\n");
  EXPECT_EQ(FormatDocument(wide, TextFormat::kLatex), "% " + line + line + " end\n% " + line + " and " + line + "\n");
}

TEST(FormatDocument, Markdown) {
  EXPECT_EQ(FormatDocument(kDocument, TextFormat::kMarkdown),
            "what was read\n\na title\n\n| m   |   v |\n| :-- | --: |\n| a_b |   1 |\n\n* absent: x\n");
}

TEST(FormatDocument, Latex) {
  EXPECT_EQ(FormatDocument(kDocument, TextFormat::kLatex),
            "% what was read\n% a title\n\\begin{tabular}{lr}\n  \\toprule\n  m & v \\\\\n  \\midrule\n"
            "  a\\_b & 1 \\\\\n  \\bottomrule\n\\end{tabular}\n% absent: x\n");
}

TEST(ParseTextFormat, Names) {
  EXPECT_EQ(*ParseTextFormat("latex"), TextFormat::kLatex);
  EXPECT_EQ(ParseTextFormat("jsn").status().message(),
            "unknown format 'jsn'; did you mean 'json'? (known: text, markdown, csv, json, latex)");
}

TEST(ShowPValue, Rounds) {
  EXPECT_EQ(ShowPValue(0.03124), "0.0312");
  EXPECT_EQ(ShowPValue(1), "1.0000");
  EXPECT_EQ(ShowPValue(0), "< 0.0001");
}

TEST(SharedEnd, BeginsAtAPlusOrAComma) {
  EXPECT_EQ(SharedEnd({"mcp+laptop", "max_logit+laptop"}), "+laptop");
  EXPECT_EQ(SharedEnd({"a+p, lambda 0.1", "b, lambda 0.1"}), ", lambda 0.1");
  EXPECT_EQ(SharedEnd({"a+p, lambda 0.1", "b+p, lambda 0.1"}), "+p, lambda 0.1");
  EXPECT_EQ(SharedEnd({"softmax", "max"}), "");
  EXPECT_EQ(SharedEnd({"a+p", "+p"}), "");  // nothing would be left
  EXPECT_EQ(SharedEnd({"a+p"}), "");
}

}  // namespace
}  // namespace openset

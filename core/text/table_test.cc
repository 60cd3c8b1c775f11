#include "core/text/table.h"

#include <limits>

#include "absl/strings/str_split.h"
#include "core/testing/mutation.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

const Table kTable = {{"method", "auroc"}, {{"softmax", "91.0 ± 0.5"}, {"a,\"b\"|c", "9.1"}}, 1};

TEST(Table, Text) {
  EXPECT_EQ(ToText(kTable),
            "method        auroc\n"
            "-------------------\n"
            "softmax  91.0 ± 0.5\n"
            "a,\"b\"|c         9.1\n");
}

TEST(Table, HeadsOfATableThatIsTooWideTakeSeveralLines) {
  EXPECT_EQ(
      ToText({{"method", "outer score (threshold -0.48), %", "AUROC, %"}, {{"softmax", "64.08 ± 4.33", "91.0"}}, 1},
             40),
      "          outer score\n"
      "           (threshold  AUROC,\n"
      "method      -0.48), %       %\n"
      "-----------------------------\n"
      "softmax  64.08 ± 4.33    91.0\n");
}

TEST(Table, ColumnsThatDoNotFitFollowBelowWithTheLeftOnes) {
  EXPECT_EQ(ToText({{"method", "accuracy", "AUROC", "OSCR"}, {{"softmax", "91.0", "72.4", "69.9"}}, 1}, 26),
            "method   accuracy  AUROC\n"
            "------------------------\n"
            "softmax      91.0   72.4\n"
            "\n"
            "method   OSCR\n"
            "-------------\n"
            "softmax  69.9\n");
}

TEST(Table, ColumnsCanBeDroppedToFit) {
  const Table whole = {{"method", "accuracy", "AUROC", "OSCR"}, {{"softmax", "91.0", "72.4", "69.9"}}, 1};
  Table table = whole;
  EXPECT_TRUE(DropToFit({"AUROC", "accuracy"}, 30, &table).empty());  // 7 + 8 + 5 + 4 and three gaps of 2
  EXPECT_THAT(DropToFit({"AUROC", "accuracy"}, 29, &table), ElementsAre("AUROC"));
  EXPECT_EQ(ToText(table, 29),
            "method   accuracy  OSCR\n"
            "-----------------------\n"
            "softmax      91.0  69.9\n");
  table = whole;
  EXPECT_THAT(DropToFit({"none", "AUROC", "accuracy"}, 5, &table), ElementsAre("AUROC", "accuracy"));
}

TEST(Table, BreaksLeftCellsIfAColumnDoesNotFit) {
  EXPECT_EQ(ToText({{"metric", "task", "verdict", "n"},
                    {{"AUPR (unknown positive)", "near_far, 3 classes", "no difference", "4"},
                     {"AUROC", "mnist", "a is better", "12"}},
                    2},
                   36),
            "metric     task              verdict\n"
            "------------------------------------\n"
            "AUPR       near_far,   no difference\n"
            "(unknown   3 classes\n"
            "positive)\n"
            "AUROC      mnist         a is better\n"
            "\n"
            "metric           task              n\n"
            "------------------------------------\n"
            "AUPR (unknown    near_far, 3       4\n"
            "positive)        classes\n"
            "AUROC            mnist            12\n");
}

TEST(Table, AColumnThatNeverFitsIsShownAllTheSame) {
  EXPECT_EQ(ToText({{"a", "b"}, {{"x", "a long text"}}, 1}, 5), "a            b\n--------------\nx  a long text\n");
}

// Memory and time are linear in the number of columns: with all remaining columns in each block, this would take hours.
TEST(Table, ManyColumnsTakeManyBlocks) {
  constexpr int kColumns = 200'000;
  Table table{{"method"}, {{"softmax"}}, 1};
  for (int c = 0; c < kColumns; ++c) {
    table.header.push_back("auroc");
    table.rows[0].push_back("91.0");
  }
  std::string text;
  ReadLarge("table", [&] { text = ToText(table, 40); });
  // 7 + 4 x (2 + 5) = 35 characters a block, which has three lines and an empty one below it.
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  ASSERT_EQ(lines.size(), 4 * kColumns / 4);
  for (size_t l = 0; l < lines.size(); l += 4) {
    ASSERT_EQ(lines[l], "method   auroc  auroc  auroc  auroc");
    ASSERT_EQ(lines[l + 2], "softmax   91.0   91.0   91.0   91.0");
    ASSERT_EQ(lines[l + 3], "");
  }
}

TEST(Table, Markdown) {
  EXPECT_EQ(ToMarkdown(kTable),
            "| method   |      auroc |\n"
            "| :------- | ---------: |\n"
            "| softmax  | 91.0 ± 0.5 |\n"
            "| a,\"b\"\\|c |        9.1 |\n");
}

TEST(Table, Csv) { EXPECT_EQ(ToCsv(kTable), "method,auroc\nsoftmax,91.0 ± 0.5\n\"a,\"\"b\"\"|c\",9.1\n"); }

TEST(Table, RemovesControlCodes) {
  EXPECT_EQ(ToText({{"a\x1b[1m"}, {{"x\ny\xff"}, {"\u009b31m"}, {"\u202eabc"}}, 1}),
            "a [1m\n-----\nx y\uFFFD\n\uFFFD31m\n\uFFFDabc\n");
}

TEST(Table, MarkdownHasNoHtmlAndNoLinks) {
  EXPECT_EQ(ToMarkdown({{"<b>"}, {{"<img src=x>"}, {"[a](javascript:b)"}, {"`a`\\"}, {"x\ny"}}, 1}),
            "| &lt;b>             |\n"
            "| :----------------- |\n"
            "| &lt;img src=x>     |\n"
            "| [a]\\(javascript:b) |\n"
            "| \\`a\\`\\\\            |\n"
            "| x y                |\n");
}

TEST(Table, CsvHasNoFormulas) {
  EXPECT_EQ(ToCsv({{"=a", "b"}, {{"=1+1", "-1.5e-3"}, {"+x", "-inf"}, {"@x", "-"}, {"\tx", "=HYPERLINK(\"a\",1)"}}, 1}),
            "'=a,b\n'=1+1,-1.5e-3\n'+x,-inf\n'@x,-\n'\tx,\"'=HYPERLINK(\"\"a\"\",1)\"\n");
}

TEST(Table, Latex) {
  EXPECT_EQ(ToLatex({{"open_auc", "%"}, {{"a & b", "91.0 ± 0.5"}}, 1}),
            "\\begin{tabular}{lr}\n"
            "  \\toprule\n"
            "  open\\_auc & \\% \\\\\n"
            "  \\midrule\n"
            "  a \\& b & 91.0 $\\pm$ 0.5 \\\\\n"
            "  \\bottomrule\n"
            "\\end{tabular}\n");
}

// A star follows its number and moves no other number.
TEST(Table, LatexStarsTakeNoSpace) {
  const std::string latex = ToLatex({{"a*", "b"}, {{"x*", "9.5 ± 0.5*"}, {"y", "*"}}, 1});
  EXPECT_THAT(latex, HasSubstr("  a* & b \\\\\n"));
  EXPECT_THAT(latex, HasSubstr("  x* & 9.5 $\\pm$ 0.5\\rlap{*} \\\\\n"));
}

TEST(Table, LatexBreaksHeadsThatAreWiderThanTheirColumns) {
  EXPECT_THAT(ToLatex({{"method name", "FPR95 (known positive), %"}, {{"x", "87.83 ± 5.63"}}, 1}),
              HasSubstr("\\toprule\n  method name & "
                        "\\shortstack[r]{FPR95 (known\\\\positive), \\%} \\\\\n  \\midrule"));
}

TEST(FullPrecision, HasTheFewestDigitsThatGiveTheSameDouble) {
  EXPECT_EQ(FullPrecision(0.1), "0.1");
  EXPECT_EQ(FullPrecision(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(FullPrecision(1 / 3.0), "0.3333333333333333");
  EXPECT_EQ(FullPrecision(100000), "100000");
  EXPECT_EQ(FullPrecision(-5e-324), "-4.94065645841247e-324");
  EXPECT_EQ(FullPrecision(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(FullPrecision(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Table, WithoutRows) { EXPECT_EQ(ToText({{"a"}, {}, 1}), "a\n-\n"); }

}  // namespace
}  // namespace openset

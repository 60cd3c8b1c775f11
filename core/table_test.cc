#include "core/table.h"

#include "gtest/gtest.h"

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

TEST(Table, AColumnThatNeverFitsIsShownAllTheSame) {
  EXPECT_EQ(ToText({{"a", "b"}, {{"x", "a long text"}}, 1}, 5), "a            b\n--------------\nx  a long text\n");
}

TEST(Table, Markdown) {
  EXPECT_EQ(ToMarkdown(kTable),
            "| method   |      auroc |\n"
            "| :------- | ---------: |\n"
            "| softmax  | 91.0 ± 0.5 |\n"
            "| a,\"b\"\\|c |        9.1 |\n");
}

TEST(Table, Csv) { EXPECT_EQ(ToCsv(kTable), "method,auroc\nsoftmax,91.0 ± 0.5\n\"a,\"\"b\"\"|c\",9.1\n"); }

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

TEST(Table, WithoutRows) { EXPECT_EQ(ToText({{"a"}, {}, 1}), "a\n-\n"); }

}  // namespace
}  // namespace openset

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

#include "experiments/report/titles.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(WithTitles, ReplacesNamesThatHaveATitleOfTheirOwn) {
  Report report;
  report.titles = {{"a", "Method A"}, {"b", "the same"}, {"c", "the same"}};
  EXPECT_EQ(TitledRow(report, "a"), "Method A");
  EXPECT_EQ(TitledRow(report, "a, lambda 0.1"), "Method A, lambda 0.1");
  EXPECT_EQ(TitledRow(report, "b"), "b");
  EXPECT_EQ(TitledRow(report, "none"), "none");
  report.titles["a (tuned)"] = "Method A";
  EXPECT_EQ(TitledRow(report, "a (tuned)"), "Method A (tuned)");
  EXPECT_EQ(TitledRow(report, "a"), "Method A");
  report.baseline = "a, lambda 0.1";
  report.cells.resize(2);
  report.cells[0].method = "a";
  report.cells[1].method = "c";
  const Report titled = WithTitles(report);
  EXPECT_EQ(titled.cells[0].method, "Method A");
  EXPECT_EQ(titled.cells[1].method, "c");
  EXPECT_EQ(titled.baseline, "Method A, lambda 0.1");
}

}  // namespace
}  // namespace openset

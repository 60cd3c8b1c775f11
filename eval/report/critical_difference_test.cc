#include "eval/report/critical_difference.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

TEST(CriticalDifferenceDiagram, NamesRanksAndBars) {
  const absl::StatusOr<FriedmanTest> test = CompareMethods({{3, 2, 1}, {3, 1, 2}, {3, 2, 1}}, true);
  ASSERT_TRUE(test.ok());
  const std::string chart = CriticalDifferenceDiagram("a & b", {"good", "<middle>", "bad"}, *test).dump();
  for (const char* part : {"a & b", "good (1.00)", "<middle> (2.33)", "bad (2.67)", "critical difference 1.91"}) {
    EXPECT_THAT(chart, HasSubstr(part));
  }
}

}  // namespace
}  // namespace openset

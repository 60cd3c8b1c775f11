#include "eval/report/critical_difference.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

TEST(CriticalDifferenceSvg, NamesRanksAndBars) {
  const absl::StatusOr<FriedmanTest> test = CompareMethods({{3, 2, 1}, {3, 1, 2}, {3, 2, 1}}, true);
  ASSERT_TRUE(test.ok());
  const std::string svg = CriticalDifferenceSvg("a & b", {"good", "<middle>", "bad"}, *test);
  for (const char* part : {"a &amp; b", "good (1.00)", "&lt;middle&gt; (2.33)", "bad (2.67)",
                           "critical difference 1.91", "stroke-width=\"4\"", "</svg>"}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
}

}  // namespace
}  // namespace openset

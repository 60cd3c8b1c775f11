#include "experiments/report/statistics/spread.h"

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

ReportCell Cell(std::vector<double> values, std::vector<int> splits) {
  ReportCell cell;
  cell.values = std::move(values);
  cell.splits = std::move(splits);
  cell.seeds.resize(cell.values.size());
  Summarise(&cell);
  return cell;
}

// 1, 2, 3 have the mean 2 and the sum of squares 2; Student's t with 2 degrees of freedom at 95 % is 4.302653.
TEST(SpreadOf, OfThreeSplits) {
  const ReportCell cell = Cell({1, 2, 3}, {0, 1, 2});
  EXPECT_NEAR(*SpreadOf(cell, Spread::kPopulation), std::sqrt(2.0 / 3), 1e-12);
  EXPECT_NEAR(*SpreadOf(cell, Spread::kSample), 1, 1e-12);
  EXPECT_NEAR(*SpreadOf(cell, Spread::kInterval), 4.302653 / std::sqrt(3.0), 1e-6);
}

// Two splits with the means 1 and 3: t with 1 degree of freedom is 12.706205, whatever the number of seeds.
TEST(SpreadOf, IntervalsCountSplits) {
  EXPECT_NEAR(*SpreadOf(Cell({1, 1, 3, 3}, {0, 0, 1, 1}), Spread::kInterval), 12.706205, 1e-5);
}

TEST(SpreadOf, OfValuesByThemselves) {
  EXPECT_NEAR(*SpreadOf({1, 2, 3}, {0, 1, 2}, Spread::kPopulation), std::sqrt(2.0 / 3), 1e-12);
  EXPECT_NEAR(*SpreadOf({1, 1, 3, 3}, {0, 0, 1, 1}, Spread::kInterval), 12.706205, 1e-5);
  EXPECT_FALSE(SpreadOf({1}, {0}, Spread::kSample).has_value());
}

TEST(SpreadOf, IsAbsentForTooFewRuns) {
  EXPECT_FALSE(SpreadOf(Cell({1}, {0}), Spread::kSample).has_value());
  EXPECT_FALSE(SpreadOf(Cell({}, {}), Spread::kPopulation).has_value());
  EXPECT_FALSE(SpreadOf(Cell({2, 2}, {0, 1}), Spread::kInterval).has_value());
  EXPECT_EQ(*SpreadOf(Cell({2, 2}, {0, 1}), Spread::kSample), 0);
}

TEST(ParseSpread, KnowsThree) {
  for (const char* name : {"population", "sample", "interval"}) EXPECT_TRUE(ParseSpread(name).ok()) << name;
  EXPECT_THAT(std::string(ParseSpread("sampel").status().message()), HasSubstr("did you mean 'sample'?"));
}

}  // namespace
}  // namespace openset

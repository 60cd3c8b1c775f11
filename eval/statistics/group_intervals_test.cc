#include "eval/statistics/group_intervals.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// 60 known samples and three groups of 20.
testing::Samples ThreeGroups() {
  RandomStream random(9, "groups");
  testing::Samples samples;
  for (int i = 0; i < 120; ++i) {
    const bool known = i < 60;
    samples.label.push_back(known ? 0 : kUnknownLabel);
    samples.prediction.push_back(0);
    samples.group.push_back(known ? 0 : (i - 60) / 20);
    samples.unknown_score.push_back(random.Normal() + (known ? 0 : 0.5 + 0.5 * samples.group.back()));
  }
  return samples;
}

const std::vector<Group> kGroups = {{"a", Distance::kNear}, {"b", Distance::kNear}, {"c", Distance::kFar}};

TEST(GroupIntervals, AreThoseOfEachGroupAlone) {
  const testing::Samples samples = ThreeGroups();
  std::vector<MetricSpec> metrics(1);
  metrics[0].mutable_auroc();
  BootstrapOptions options;
  options.replicates = 200;
  const std::vector<GroupInterval> columns =
      GroupIntervals(metrics, RankedInput(samples.Input()), kGroups, options).value();
  ASSERT_EQ(columns.size(), 6);  // a, b, c, near, far, pool
  EXPECT_EQ(columns[3].name, "near");
  const double mean = (*columns[0].metrics[0].value + *columns[1].metrics[0].value) / 2;
  EXPECT_NEAR(*columns[3].metrics[0].value, mean, 1e-15);
  // The one far group is its own mean, to the last bit: the replicates are the same.
  EXPECT_EQ(columns[4].metrics[0].low, columns[2].metrics[0].low);
  EXPECT_EQ(columns[4].metrics[0].high, columns[2].metrics[0].high);
  // A mean over two groups is known better than either, but not by the square root of two: they share known samples.
  const auto width = [&](int c) { return columns[c].metrics[0].high - columns[c].metrics[0].low; };
  EXPECT_LT(width(3), std::max(width(0), width(1)));
  for (const GroupInterval& column : columns) {
    EXPECT_LT(column.metrics[0].low, *column.metrics[0].value);
    EXPECT_GT(column.metrics[0].high, *column.metrics[0].value);
  }
  // The pool is that of BootstrapIntervals, which draws the same.
  const IntervalValue pool = BootstrapIntervals(metrics, RankedInput(samples.Input()), options)->at(0);
  EXPECT_EQ(columns[5].metrics[0].low, pool.low);
}

// Known samples have the scores 0 ... 59. Group c is above all of them, b above all but one, a below all.
TEST(GroupIntervals, HaveAWidthWhereAllReplicatesAgree) {
  testing::Samples samples = ThreeGroups();
  for (int i = 0; i < 120; ++i) {
    samples.unknown_score[i] = i < 60 ? i : samples.group[i] == 0 ? -1 : samples.group[i] == 1 ? 58.5 : 100;
  }
  std::vector<MetricSpec> metrics(1);
  metrics[0].mutable_auroc();
  BootstrapOptions options;
  options.replicates = 200;
  const std::vector<GroupInterval> columns =
      GroupIntervals(metrics, RankedInput(samples.Input()), kGroups, options).value();
  const auto of = [&](int c) { return columns[c].metrics[0]; };
  // Clopper and Pearson's of none, and of all, of 20 trials.
  const double most = 1 - std::pow(0.025, 1.0 / 20);
  EXPECT_EQ(of(0).value, 0);
  EXPECT_EQ(of(0).low, 0);
  EXPECT_NEAR(of(0).high, most, 1e-12);
  EXPECT_EQ(of(2).value, 1);
  EXPECT_NEAR(of(2).low, 1 - most, 1e-12);
  EXPECT_EQ(of(2).high, 1);
  // The pool, which is neither, has that of its replicates; a mean over groups is no share of samples.
  EXPECT_EQ(of(5).low, BootstrapIntervals(metrics, RankedInput(samples.Input()), options)->at(0).low);
  EXPECT_EQ(of(4).value, 1);
  EXPECT_EQ(of(4).low, 1);
  EXPECT_EQ(of(4).note, "all replicates agree");
}

TEST(GroupIntervals, RefusesInputsWithoutGroups) {
  testing::Samples samples = ThreeGroups();
  samples.group.clear();
  std::vector<MetricSpec> metrics(1);
  metrics[0].mutable_auroc();
  EXPECT_EQ(GroupIntervals(metrics, RankedInput(samples.Input()), kGroups, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace openset

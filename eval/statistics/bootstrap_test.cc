#include "eval/statistics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/testing/status_matchers.h"
#include "eval/metrics/auroc.h"
#include "eval/metrics/conventions.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

Samples SmallSamples() {
  Samples samples;
  samples.num_classes = 2;
  samples.label = {0, 1, -1, 1, -1, 0, -1, 0, 1};
  samples.prediction = {0, 1, 0, 0, 1, 0, 1, 1, 1};
  samples.unknown_score = {0.1, 0.4, 0.5, 0.35, 0.8, 0.2, 0.3, 0.6, 0.45};
  return samples;
}

std::vector<MetricSpec> FourMetrics() {
  std::vector<MetricSpec> metrics(4);
  metrics[0].mutable_auroc();
  metrics[1].mutable_openauc();
  metrics[2].mutable_aurc();
  metrics[3].mutable_fpr_at_95tpr();
  return metrics;
}

TEST(SortedQuantile, IsLinearBetweenValues) {
  const std::vector<double> sorted = {1, 2, 4};
  EXPECT_EQ(SortedQuantile(sorted, 0), 1);
  EXPECT_EQ(SortedQuantile(sorted, 0.25), 1.5);
  EXPECT_EQ(SortedQuantile(sorted, 0.5), 2);
  EXPECT_EQ(SortedQuantile(sorted, 0.75), 3);
  EXPECT_EQ(SortedQuantile(sorted, 1), 4);
}

TEST(StrataOf, AreKnownSamplesAndTheGroupsThatHaveSome) {
  Samples samples;
  samples.label = {-1, 0, -1, 0};
  samples.prediction = {0, 0, 0, 0};
  samples.unknown_score = {1, 2, 3, 4};
  EXPECT_THAT(StrataOf(RankedInput(samples.Input())), ElementsAre(ElementsAre(1, 3), ElementsAre(0, 2)));
  samples.group = {2, 0, 0, 0};
  RankedInput ranked(samples.Input());
  EXPECT_THAT(StrataOf(ranked), ElementsAre(ElementsAre(1, 3), ElementsAre(2), ElementsAre(0)));
  ranked.Reweight(std::vector<uint32_t>{1, 2, 0, 1});
  EXPECT_THAT(StrataOf(ranked), ElementsAre(ElementsAre(1, 1, 3), ElementsAre(0)));
}

TEST(StrataOf, UnitsAreClusters) {
  Samples samples;
  samples.label = {-1, 0, -1, 0, 0};
  samples.prediction = {0, 0, 0, 0, 0};
  samples.unknown_score = {1, 2, 3, 4, 5};
  samples.cluster = {9, 4, 9, 4, 6};
  RankedInput ranked(samples.Input());
  EXPECT_THAT(ClustersOf(ranked), ElementsAre(ElementsAre(1, 3), ElementsAre(4), ElementsAre(0, 2)));
  EXPECT_THAT(StrataOf(ranked), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
  ranked.Reweight(std::vector<uint32_t>{1, 0, 2, 0, 1});
  EXPECT_THAT(ClustersOf(ranked), ElementsAre(ElementsAre(4), ElementsAre(0, 2, 2)));
  // A cluster of known and unknown samples: one stratum.
  samples.cluster = {9, 4, 9, 9, 6};
  const RankedInput across(samples.Input());
  EXPECT_THAT(StrataOf(across), ElementsAre(ElementsAre(0, 1, 2)));
}

// Each sample once as it is, or three times in one cluster: the same units, so the same replicates and intervals.
TEST(BootstrapIntervals, CopiesInAClusterCountOnce) {
  const Samples once = SmallSamples();
  Samples copies;
  copies.num_classes = 2;
  for (size_t i = 0; i < once.label.size(); ++i) {
    for (int copy = 0; copy < 3; ++copy) {
      copies.label.push_back(once.label[i]);
      copies.prediction.push_back(once.prediction[i]);
      copies.unknown_score.push_back(once.unknown_score[i]);
      copies.cluster.push_back(static_cast<int64_t>(i));
    }
  }
  BootstrapOptions options;
  options.replicates = 300;
  MetricSpec auroc;
  auroc.mutable_auroc();
  const auto of_once = BootstrapIntervals({auroc}, RankedInput(once.Input()), options).value();
  const auto of_copies = BootstrapIntervals({auroc}, RankedInput(copies.Input()), options).value();
  EXPECT_NEAR(*of_once[0].value, *of_copies[0].value, 1e-12);
  EXPECT_NEAR(of_once[0].low, of_copies[0].low, 1e-12);
  EXPECT_NEAR(of_once[0].high, of_copies[0].high, 1e-12);
  // Without clusters, the copies look like more evidence.
  copies.cluster.clear();
  const auto naive = BootstrapIntervals({auroc}, RankedInput(copies.Input()), options).value();
  EXPECT_LT(naive[0].high - naive[0].low, of_once[0].high - of_once[0].low);
}

TEST(DrawReplicate, DrawsEachStratumAsOftenAsItHasSamplesAndUniformly) {
  const Strata strata = {{0, 1, 2, 3, 4}, {5, 6, 7}};
  RandomStream random(1, "draw");
  std::vector<double> total(8);
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint32_t> weight(8);
    DrawReplicate(strata, &random, &weight);
    ASSERT_EQ(weight[0] + weight[1] + weight[2] + weight[3] + weight[4], 5);
    ASSERT_EQ(weight[5] + weight[6] + weight[7], 3);
    for (int i = 0; i < 8; ++i) total[i] += weight[i];
  }
  // Each count has mean 20,000 and variance below 20,000: one of 8 is off by 6 standard deviations with probability
  // below 2e-8.
  for (const double count : total) EXPECT_NEAR(count, 20000, 6 * std::sqrt(20000.0));
}

TEST(Bootstrap, IntervalsAgreeWithScipyOnTheSameReplicates) {
  const GoldenCase golden = ReadGolden("statistics.json", "bca")[0];
  Samples samples;
  samples.unknown_score = golden.arrays.at("known");
  samples.label.assign(samples.unknown_score.size(), 0);
  for (const double score : golden.arrays.at("unknown")) {
    samples.unknown_score.push_back(score);
    samples.label.push_back(kUnknownLabel);
  }
  samples.prediction.assign(samples.label.size(), 0);
  const EvaluationInput input = samples.Input();
  const auto make_statistics = [&input]() -> Statistics {
    return [ranked = RankedInput(input)](absl::Span<const uint32_t> weight) mutable {
      ranked.Reweight(weight);
      return std::vector<MetricResult>{Auroc(ranked)};
    };
  };
  BootstrapOptions options;
  options.replicates = 10;
  Replicates replicates = Bootstrap(make_statistics, RankedInput(input), options);
  EXPECT_NEAR(*replicates.estimate[0].value, *golden.at("estimate"), 1e-12);
  EXPECT_NEAR(Acceleration(replicates.jackknife, replicates.left[0]), *golden.at("acceleration"), 1e-12);

  const std::vector<double>& values = golden.arrays.at("replicates");
  replicates.values[0].assign(values.begin(), values.end());
  const auto interval_of = [&] {
    return IntervalOf(replicates.estimate[0], replicates.values[0], replicates.jackknife, replicates.left[0], options);
  };
  IntervalValue interval = interval_of();
  EXPECT_NEAR(interval.low, *golden.at("bca_low"), 1e-12);
  EXPECT_NEAR(interval.high, *golden.at("bca_high"), 1e-12);
  options.method = IntervalMethod::kPercentile;
  interval = interval_of();
  EXPECT_NEAR(interval.low, *golden.at("percentile_low"), 1e-12);
  EXPECT_NEAR(interval.high, *golden.at("percentile_high"), 1e-12);
}

TEST(BootstrapIntervals, HoldTheValueAndDoNotDependOnThreads) {
  const Samples samples = SmallSamples();
  BootstrapOptions options;
  options.replicates = 300;
  options.seed = 7;
  const auto one = BootstrapIntervals(FourMetrics(), RankedInput(samples.Input()), options).value();
  options.threads = 3;
  const auto three = BootstrapIntervals(FourMetrics(), RankedInput(samples.Input()), options).value();
  options.seed = 8;
  const auto other = BootstrapIntervals(FourMetrics(), RankedInput(samples.Input()), options).value();
  bool differs = false;
  for (int m = 0; m < 4; ++m) {
    EXPECT_LE(one[m].low, *one[m].value);
    EXPECT_LE(*one[m].value, one[m].high);
    EXPECT_EQ(one[m].low, three[m].low);
    EXPECT_EQ(one[m].high, three[m].high);
    differs = differs || one[m].low != other[m].low || one[m].high != other[m].high;
  }
  EXPECT_TRUE(differs);
}

TEST(BootstrapIntervals, TakeWeightsAsRepeatedSamples) {
  const Samples samples = SmallSamples();
  Samples part = samples;
  part.label.pop_back();
  part.prediction.pop_back();
  part.unknown_score.pop_back();
  RankedInput ranked(samples.Input());
  ranked.Reweight(std::vector<uint32_t>{1, 1, 1, 1, 1, 1, 1, 1, 0});
  const auto weighted = BootstrapIntervals(FourMetrics(), ranked, {100}).value();
  const auto left_out = BootstrapIntervals(FourMetrics(), RankedInput(part.Input()), {100}).value();
  for (int m = 0; m < 4; ++m) {
    EXPECT_NEAR(*weighted[m].value, *left_out[m].value, 1e-15);
    EXPECT_NEAR(weighted[m].low, left_out[m].low, 1e-15);
    EXPECT_NEAR(weighted[m].high, left_out[m].high, 1e-15);
  }
}

TEST(BootstrapIntervals, WorkForEveryMetric) {
  const Samples samples = SmallSamples();
  BootstrapOptions options;
  options.replicates = 50;
  const std::vector<MetricSpec> metrics = AllMetrics();
  const auto intervals = BootstrapIntervals(metrics, RankedInput(samples.Input()), options).value();
  ASSERT_EQ(intervals.size(), metrics.size());
  for (const IntervalValue& interval : intervals) {
    EXPECT_NE(interval.value.has_value(), !interval.absent_reason.empty());
    EXPECT_LE(interval.low, interval.high);
  }
}

TEST(BootstrapIntervals, AreAbsentWhereTheMetricOrTooManyReplicatesAre) {
  Samples samples = SmallSamples();
  std::vector<MetricSpec> metrics(1);
  metrics[0].mutable_auroc_misclassification();
  BootstrapOptions options;
  options.replicates = 200;
  samples.prediction = {0, 1, 0, 0, 1, 0, 1, 0, 1};  // one of six known is wrong; (5/6)^6 of the replicates have none
  auto intervals = BootstrapIntervals(metrics, RankedInput(samples.Input()), options).value();
  EXPECT_FALSE(intervals[0].value.has_value());
  EXPECT_THAT(intervals[0].absent_reason, HasSubstr("of 200 replicates"));
  samples.label.assign(9, -1);
  intervals = BootstrapIntervals(metrics, RankedInput(samples.Input()), options).value();
  EXPECT_EQ(intervals[0].absent_reason, "no known samples");
}

TEST(BootstrapIntervals, OfAConstantIsAPoint) {
  Samples samples = SmallSamples();
  samples.unknown_score.assign(9, 0.5);
  const auto intervals = BootstrapIntervals(FourMetrics(), RankedInput(samples.Input()), {100}).value();
  EXPECT_EQ(intervals[0].low, 0.5);
  EXPECT_EQ(intervals[0].high, 0.5);
  EXPECT_EQ(intervals[0].note, "all replicates agree");
}

TEST(BootstrapIntervals, RefuseWrongOptions) {
  const Samples samples = SmallSamples();
  const RankedInput ranked(samples.Input());
  for (const auto& [options, message] : std::vector<std::pair<BootstrapOptions, std::string>>{
           {{1}, "replicates must be at least 2"},
           {{100, 1.0}, "confidence must lie between 0 and 1"},
           {{100, 0.95, IntervalMethod::kBca, 0, 0}, "threads must be at least 1"}}) {
    EXPECT_THAT(BootstrapIntervals(FourMetrics(), ranked, options), IsInvalidArgument(message));
  }
  EXPECT_EQ(BootstrapIntervals({MetricSpec()}, ranked, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

// 60 known samples and three groups of 20.
Samples ThreeGroups() {
  RandomStream random(9, "groups");
  Samples samples;
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
  const Samples samples = ThreeGroups();
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
  // The pool has the interval of BootstrapIntervals(), which draws the same.
  const IntervalValue pool = BootstrapIntervals(metrics, RankedInput(samples.Input()), options)->at(0);
  EXPECT_EQ(columns[5].metrics[0].low, pool.low);
}

// Known samples have the scores 0 ... 59. Group c is above all of them, b above all but one, a below all.
TEST(GroupIntervals, HaveAWidthWhereAllReplicatesAgree) {
  Samples samples = ThreeGroups();
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
  // The pool, which is neither, has its replicates' interval; a mean over groups is no share of samples.
  EXPECT_EQ(of(5).low, BootstrapIntervals(metrics, RankedInput(samples.Input()), options)->at(0).low);
  EXPECT_EQ(of(4).value, 1);
  EXPECT_EQ(of(4).low, 1);
  EXPECT_EQ(of(4).note, "all replicates agree");
}

TEST(GroupIntervals, RefusesInputsWithoutGroups) {
  Samples samples = ThreeGroups();
  samples.group.clear();
  std::vector<MetricSpec> metrics(1);
  metrics[0].mutable_auroc();
  EXPECT_EQ(GroupIntervals(metrics, RankedInput(samples.Input()), kGroups, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace openset

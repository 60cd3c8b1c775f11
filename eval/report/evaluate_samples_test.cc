#include "eval/report/evaluate_samples.h"

#include <string>
#include <vector>

#include "core/testing/status_matchers.h"
#include "eval/statistics/delong.h"

namespace openset {
namespace {

// Four known samples of two classes, the last one classified wrongly, and three unknown ones: two of "svhn", which is
// near, and one of "dtd", which is far.
SampleSet Samples() {
  SampleSet samples;
  samples.num_samples = 7;
  samples.num_classes = 2;
  samples.label = {0, 0, 1, 1, kUnknownLabel, kUnknownLabel, kUnknownLabel};
  samples.prediction = {0, 0, 1, 0, 0, 1, 1};
  samples.unknown_score = {0.1, 0.2, 0.3, 0.6, 0.5, 0.7, 0.9};
  samples.group = {0, 0, 0, 0, 0, 0, 1};
  samples.groups = {{"svhn", Distance::kNear}, {"dtd", Distance::kFar}};
  return samples;
}

ConventionMetric Accuracy() {
  ConventionMetric metric;
  metric.printed_name = "accuracy";
  metric.metric.mutable_accuracy();
  return metric;
}

ConventionMetric Auroc() {
  ConventionMetric metric;
  metric.printed_name = "auroc";
  metric.metric.mutable_auroc();
  return metric;
}

SampleIntervals Intervals() {
  SampleIntervals intervals;
  intervals.bootstrap.replicates = 200;
  intervals.bootstrap.confidence = 0.9;
  return intervals;
}

TEST(EvaluateSamples, EachSetOfUnknownSamplesTheirMeansAndThePool) {
  const SampleSet samples = Samples();
  const RankedInput ranked(*samples.Input());
  ASSERT_OK_AND_ASSIGN(const EvaluationReport report,
                       EvaluateSamples({Accuracy(), Auroc()}, samples, ranked, std::nullopt));
  EXPECT_EQ(report.num_known, 4);
  EXPECT_EQ(report.num_unknown, 3);
  EXPECT_EQ(report.num_classes, 2);
  EXPECT_EQ(report.interval, "");
  EXPECT_EQ(report.metrics[0].value, 0.75);
  EXPECT_EQ(report.metrics[1].value, 11.0 / 12);  // 0.5 lies below 0.6
  EXPECT_FALSE(report.metrics[1].low.has_value());
  std::vector<std::string> names;
  std::vector<double> auroc;
  std::vector<int64_t> unknown;
  for (const ReportedGroup& group : report.groups) {
    names.push_back(group.name);
    auroc.push_back(*group.values[1].value);
    unknown.push_back(group.samples);
    EXPECT_TRUE(group.intervals.empty());
  }
  EXPECT_THAT(names, ElementsAre("svhn", "dtd", "mean of near", "mean of far", "pool"));
  EXPECT_THAT(auroc, ElementsAre(7.0 / 8, 1, 7.0 / 8, 1, 11.0 / 12));
  EXPECT_THAT(unknown, ElementsAre(2, 1, 2, 1, 3));
  EXPECT_TRUE(report.known_sets.empty());
  EXPECT_TRUE(report.sources.empty());  // pooled_aurc was not requested
}

TEST(EvaluateSamples, EachSetOfKnownSamples) {
  SampleSet samples = Samples();
  samples.known_set = {0, 1, 0, 1, -1, -1, -1};
  samples.known_sets = {"clean", "noisy"};
  const RankedInput ranked(*samples.Input());
  ASSERT_OK_AND_ASSIGN(const EvaluationReport report,
                       EvaluateSamples({Accuracy(), Auroc()}, samples, ranked, std::nullopt));
  ASSERT_EQ(report.known_sets.size(), 2);
  EXPECT_EQ(report.known_sets[0].name, "clean");
  EXPECT_EQ(report.known_sets[0].samples, 2);
  EXPECT_EQ(report.known_sets[0].values[0].value, 1);
  EXPECT_EQ(report.known_sets[0].values[1].value, 1);
  EXPECT_EQ(report.known_sets[1].values[0].value, 0.5);
  EXPECT_EQ(report.known_sets[1].values[1].value, 5.0 / 6);
}

TEST(EvaluateSamples, ConventionsTurnIntervalsAndDirections) {
  const SampleSet samples = Samples();
  const RankedInput ranked(*samples.Input());
  ConventionMetric error = Accuracy();
  error.printed_name = "error x1000";
  error.metric.set_name("turned");
  error.factor = -1000;
  error.offset = 1000;
  ASSERT_OK_AND_ASSIGN(const EvaluationReport report,
                       EvaluateSamples({Accuracy(), error}, samples, ranked, Intervals()));
  const ReportedMetric &accuracy = report.metrics[0], &turned = report.metrics[1];
  EXPECT_EQ(turned.name, "error x1000");
  EXPECT_EQ(turned.value, 250);
  EXPECT_EQ(turned.display.higher_is_better, false);
  EXPECT_EQ(turned.display.label, "1000 - turned");
  ASSERT_TRUE(accuracy.low.has_value() && turned.low.has_value());
  EXPECT_LT(*accuracy.low, *accuracy.high);
  EXPECT_EQ(*turned.low, 1000 - 1000 * *accuracy.high);
  EXPECT_EQ(*turned.high, 1000 - 1000 * *accuracy.low);
  // Of sets as well. The known samples are the same for each, so that they have the same accuracy.
  const ReportedGroup& set = report.groups[0];
  EXPECT_EQ(set.values[1].value, 250);
  ASSERT_TRUE(set.intervals[0].has_value() && set.intervals[1].has_value());
  EXPECT_EQ(set.intervals[1]->first, 1000 - 1000 * set.intervals[0]->second);
  EXPECT_EQ(set.intervals[1]->second, 1000 - 1000 * set.intervals[0]->first);
}

TEST(EvaluateSamples, UsesDeLongsIntervalIfThereIsOne) {
  const SampleSet samples = Samples();
  const RankedInput ranked(*samples.Input());
  SampleIntervals intervals = Intervals();
  ASSERT_OK_AND_ASSIGN(const EvaluationReport bootstrap,
                       EvaluateSamples({Accuracy(), Auroc()}, samples, ranked, intervals));
  EXPECT_EQ(bootstrap.interval, "90 % interval (bca, 200 replicates, seed 0)");
  intervals.delong = true;
  ASSERT_OK_AND_ASSIGN(const EvaluationReport delong,
                       EvaluateSamples({Accuracy(), Auroc()}, samples, ranked, intervals));
  EXPECT_EQ(delong.interval, "90 % interval (delong, 200 replicates, seed 0)");
  EXPECT_EQ(delong.metrics[0].low, bootstrap.metrics[0].low);
  const NormalInterval wanted = *DeLongInterval(ranked, PairStatistic::kAuroc, 0.9);
  EXPECT_EQ(delong.metrics[1].low, wanted.low);
  EXPECT_EQ(delong.metrics[1].high, wanted.high);
}

TEST(EvaluateSamples, AnIntervalThatCantBeIsAbsentWithItsReason) {
  SampleSet samples = Samples();
  for (const int i : {1, 2, 3}) samples.label[i] = kUnknownLabel;
  samples.group.clear();
  samples.groups.clear();
  const RankedInput ranked(*samples.Input());
  SampleIntervals intervals = Intervals();
  intervals.delong = true;
  ASSERT_OK_AND_ASSIGN(const EvaluationReport report, EvaluateSamples({Auroc()}, samples, ranked, intervals));
  EXPECT_EQ(report.metrics[0].value, 1);
  EXPECT_FALSE(report.metrics[0].low.has_value());
  EXPECT_THAT(report.metrics[0].absent_reason, HasSubstr("two known"));
}

TEST(EvaluateSamples, SplitsPooledErrorsBySource) {
  ConventionMetric pooled;
  pooled.printed_name = "pooled_aurc";
  pooled.metric.mutable_pooled_aurc();
  const SampleSet samples = Samples();
  const RankedInput ranked(*samples.Input());
  ASSERT_OK_AND_ASSIGN(const EvaluationReport report, EvaluateSamples({pooled}, samples, ranked, std::nullopt));
  ASSERT_EQ(report.sources.size(), 3);
  EXPECT_EQ(report.sources[0].name, "known");
  EXPECT_EQ(report.sources[0].part.errors, 1);
  EXPECT_EQ(report.sources[1].name, "svhn");
  EXPECT_EQ(report.sources[1].part.errors, 2);
  EXPECT_EQ(report.sources[2].name, "dtd");
  EXPECT_EQ(report.sources[2].part.errors, 1);
  double sum = 0;
  for (const ReportedSource& source : report.sources) sum += source.part.aurc;
  EXPECT_NEAR(sum, *report.metrics[0].value, 1e-15);

  SampleSet one_set = Samples();
  one_set.group.clear();
  one_set.groups.clear();
  const RankedInput ranked_one(*one_set.Input());
  const absl::StatusOr<EvaluationReport> of_one = EvaluateSamples({pooled}, one_set, ranked_one, std::nullopt);
  ASSERT_EQ(of_one->sources.size(), 2);
  EXPECT_EQ(of_one->sources[1].name, "unknown");
  EXPECT_TRUE(of_one->groups.empty());
}

TEST(EvaluateSamples, TwoMetricsOfOneNameAreRefused) {
  const SampleSet samples = Samples();
  const RankedInput ranked(*samples.Input());
  EXPECT_EQ(EvaluateSamples({Auroc(), Auroc()}, samples, ranked, std::nullopt).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace openset

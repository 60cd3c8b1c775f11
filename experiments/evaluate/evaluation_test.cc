#include "experiments/evaluate/evaluation.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "core/in_parallel.h"
#include "core/random.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "eval/metrics/metric.pb.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/details.pb.h"
#include "experiments/store/records/metric_groups.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

TrialSpec Parse(const std::string& text) { return Parsed<TrialSpec>(text); }

// Two known classes, two known samples of each, two unknown samples.
TrialSpec Trial() {
  return Parse(R"(
    method { score { max_logit {} } }
    data {
      train { class_id: [4, 7] }
      test_known { class_id: [4, 7] }
      test_unknown { name: "unknown" selection { class_id: [1, 2, 3] } }
    }
    metric { accuracy {} }
    metric { auroc {} }
    metric { openauc {} }
    metric { aupr_unknown {} }
  )");
}

Outputs SixSamples() {
  Outputs outputs;
  outputs.num_outputs = 2;
  //                 right  right  right   wrong  unknown unknown
  outputs.logits = {4, 0, 3, 1, 0, 5, 2, 1, 1, 0, 0, 3.5};
  outputs.label = {0, 0, 1, 1, -1, -1};
  outputs.class_id = {4, 4, 7, 7, 1, 2};
  outputs.group = {-1, -1, -1, -1, 0, 0};
  outputs.group_names = {"unknown"};
  return outputs;
}

TEST(Measure, ComputesTheMetricsOfTheOutputs) {
  const absl::StatusOr<TrialRecord> record = Measure(Trial(), SixSamples());
  ASSERT_THAT(record, IsOk());
  ASSERT_EQ(record->metric_size(), 4);
  EXPECT_EQ(record->metric(0).name(), "accuracy");
  EXPECT_DOUBLE_EQ(record->metric(0).value(), 3.0 / 4);
  // Unknown scores: known -4 -3 -5 -2, unknown -1 -3.5. The first unknown beats all four known samples, the second
  // those at -4 and -5.
  EXPECT_DOUBLE_EQ(record->metric(1).value(), 6.0 / 8);
  // The pairs of the sample that is classified wrongly do not count: 3 + 2.
  EXPECT_DOUBLE_EQ(record->metric(2).value(), 5.0 / 8);
}

TEST(Measure, WithoutDetailsTheMetricsAreTheSame) {
  TrialRecord record = *Measure(Trial(), SixSamples());
  EXPECT_TRUE(record.has_details());
  record.clear_details();
  const absl::StatusOr<TrialRecord> metrics = MeasureMetrics(Trial(), SixSamples());
  ASSERT_THAT(metrics, IsOk());
  EXPECT_EQ(metrics->SerializeAsString(), record.SerializeAsString());
}

TEST(Measure, CountsTheSamples) {
  const absl::StatusOr<TrialRecord> record = Measure(Trial(), SixSamples());
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->counts().known(), 4);
  EXPECT_EQ(record->counts().unknown(), 2);
  EXPECT_EQ(record->counts().known_classes(), 2);
  EXPECT_EQ(record->counts().unknown_classes(), 3);
  ASSERT_EQ(record->counts().group_size(), 1);
  EXPECT_EQ(record->counts().group(0).name(), "unknown");
  EXPECT_EQ(record->counts().group(0).samples(), 2);
}

// OpenMax, fitted to the same samples. The last known sample is far from both means and becomes unknown, which is an
// error; its closed-set prediction is correct.
TEST(Measure, OpenMaxPredictsByItsRevisedOutputs) {
  Outputs fit;
  fit.num_outputs = 2;
  fit.logits = {10, 0, 10, 0.5, 10.5, 0, 0, 10, 0.5, 10, 0, 10.5};
  fit.label = {0, 0, 0, 1, 1, 1};
  Outputs outputs;
  outputs.num_outputs = 2;
  outputs.logits = {10, 0.25, 0.25, 10, 3, 2.9f, 4, 4};
  outputs.label = {0, 1, 0, -1};
  outputs.class_id = {4, 7, 4, 1};
  outputs.group = {-1, -1, -1, 0};
  outputs.group_names = {"unknown"};
  TrialSpec trial = Trial();
  OpenMaxSpec* openmax = trial.mutable_method()->mutable_score()->mutable_openmax();
  openmax->set_tail(2);
  openmax->set_translation(1);
  const absl::StatusOr<TrialRecord> closed_set = Measure(trial, outputs, &fit);
  ASSERT_THAT(closed_set, IsOk());
  EXPECT_DOUBLE_EQ(closed_set->metric(0).value(), 1);
  openmax->set_prediction(OpenMaxSpec::REVISED);
  const absl::StatusOr<TrialRecord> revised = Measure(trial, outputs, &fit);
  ASSERT_THAT(revised, IsOk());
  EXPECT_DOUBLE_EQ(revised->metric(0).value(), 2.0 / 3);
  EXPECT_EQ(revised->metric(1).value(), closed_set->metric(1).value());  // the score is the same
  EXPECT_DOUBLE_EQ(closed_set->metric(2).value(), 1);
  EXPECT_DOUBLE_EQ(revised->metric(2).value(), 2.0 / 3);
}

TEST(Measure, ReadsTheDisagreementOfSeveralPasses) {
  TrialSpec trial = Trial();
  trial.mutable_method()->mutable_score()->mutable_mutual_information();
  Outputs outputs = SixSamples();
  EXPECT_THAT(Measure(trial, outputs).status().message(), HasSubstr("needs member_uncertainty"));
  for (const float mutual : {0.0f, 0.1f, 0.2f, 0.3f, 0.4f, 0.15f}) {
    outputs.member_uncertainty.insert(outputs.member_uncertainty.end(), {mutual, 9, 9});
  }
  const absl::StatusOr<TrialRecord> record = Measure(trial, outputs);
  ASSERT_THAT(record, IsOk());
  EXPECT_DOUBLE_EQ(record->metric(1).value(), (4 + 2) / 8.0);
}

TEST(Measure, UndefinedMetricsAreAbsentWithAReason) {
  Outputs outputs = SixSamples();
  outputs.logits.resize(8);
  outputs.label.resize(4);
  outputs.class_id.resize(4);
  outputs.group.resize(4);
  const absl::StatusOr<TrialRecord> record = Measure(Trial(), outputs);
  ASSERT_THAT(record, IsOk());
  EXPECT_DOUBLE_EQ(record->metric(0).value(), 3.0 / 4);
  EXPECT_FALSE(record->metric(1).has_value());
  EXPECT_THAT(record->metric(1).absent_reason(), HasSubstr("unknown"));
}

// The same outputs as two sets of one sample each. The scores are -4 -3 -5 -2 for known samples, -1 (above all four) in
// "a", and -3.5 (above two) in "b".
TrialSpec TwoSets() {
  TrialSpec trial = Trial();
  UnknownGroup* a = trial.mutable_data()->mutable_test_unknown(0);
  a->set_name("a");
  a->set_distance(UnknownGroup::FAR);
  *trial.mutable_data()->add_test_unknown() = *a;
  trial.mutable_data()->mutable_test_unknown(1)->set_name("b");
  return trial;
}

Outputs SamplesOfTwoSets() {
  Outputs outputs = SixSamples();
  outputs.group = {-1, -1, -1, -1, 0, 1};
  outputs.group_names = {"a", "b"};
  return outputs;
}

TEST(Measure, MeasuresEachSetAndTheMeans) {
  const absl::StatusOr<TrialRecord> record = Measure(TwoSets(), SamplesOfTwoSets());
  ASSERT_THAT(record, IsOk());
  std::map<std::string, std::map<std::string, double>> values;
  for (const MetricRecord& metric : record->metric()) {
    values[GroupText(metric.group())][metric.name()] = metric.value();
  }
  EXPECT_EQ(values["pool"]["accuracy"], 3.0 / 4);
  EXPECT_EQ(values["pool"]["auroc"], 6.0 / 8);
  EXPECT_EQ(values["a"]["auroc"], 1);
  EXPECT_EQ(values["b"]["auroc"], 2.0 / 4);
  EXPECT_EQ(values["mean of far"]["auroc"], 3.0 / 4);
  EXPECT_EQ(values["a"].count("accuracy"), 0);  // of known samples only
  EXPECT_EQ(values.count("mean of near"), 0);
  // The pool comes first: searches read it.
  EXPECT_EQ(record->metric(0).group().kind(), MetricGroup::POOL);
}

TEST(Measure, RecordsDescribeTheirNumbers) {
  TrialSpec trial = Trial();
  trial.mutable_metric(3)->mutable_aupr_unknown()->set_form(AuprSpec::TRAPEZOID);
  const absl::StatusOr<TrialRecord> record = Measure(trial, SixSamples());
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->metric(3).spec().aupr_unknown().form(), AuprSpec::TRAPEZOID);
  EXPECT_EQ(record->metric(1).unit(), "share");
  EXPECT_TRUE(record->metric(1).higher_is_better());
  EXPECT_EQ(record->metric(1).group().kind(), MetricGroup::POOL);
  EXPECT_FALSE(record->metric(1).has_interval());
}

// The intervals are those of BootstrapIntervals. That of "a" is a point, because all pairs are in order in each
// replicate. That of the mean over both sets is half as wide as that of "b", because both use the same draws of known
// samples.
TEST(Measure, ComputesRequestedIntervals) {
  TrialSpec trial = TwoSets();
  trial.mutable_metric(1)->mutable_interval()->set_replicates(200);
  trial.mutable_metric(1)->mutable_interval()->set_method(IntervalSpec::PERCENTILE);
  const absl::StatusOr<TrialRecord> record = Measure(trial, SamplesOfTwoSets());
  ASSERT_THAT(record, IsOk());
  int intervals = 0;
  std::map<std::string, double> width;
  for (const MetricRecord& metric : record->metric()) {
    EXPECT_EQ(metric.has_interval(), metric.name() == "auroc");
    if (!metric.has_interval()) continue;
    ++intervals;
    EXPECT_LE(metric.interval().low(), metric.value());
    EXPECT_GE(metric.interval().high(), metric.value());
    width[GroupText(metric.group())] = metric.interval().high() - metric.interval().low();
  }
  EXPECT_EQ(intervals, 4);
  EXPECT_GT(width["b"], 0.5);
  EXPECT_NEAR(width["mean of far"], width["b"] / 2, 0.13);  // an AUROC of "b" moves in steps of 1/4
  EXPECT_LT(record->metric(1).interval().low(), record->metric(1).interval().high());
}

// Temperature scaling, fitted to outputs that are wrong as often as their softmax predicts.
TEST(Measure, FitsTheScoreFirst) {
  TrialSpec trial = Trial();
  trial.mutable_method()->mutable_score()->mutable_temperature_scaled_softmax();
  EXPECT_THAT(Measure(trial, SixSamples()), StatusIs(absl::StatusCode::kFailedPrecondition));
  Outputs fit;
  fit.num_outputs = 2;
  fit.logits = {1, 0, 1, 0, 1, 0, 0, 1};
  fit.label = {0, 0, 1, 1};
  const absl::StatusOr<TrialRecord> record = Measure(trial, SixSamples(), &fit);
  ASSERT_THAT(record, IsOk());
  // The gaps between the two logits are 4 2 5 1 for known samples, and 1 and 3.5 for unknown ones; smaller = more
  // unknown. The first unknown sample beats three and ties with one, the second beats two.
  EXPECT_DOUBLE_EQ(record->metric(1).value(), (3 + 0.5 + 2) / 8);
}

// This many known samples of two classes, followed, if `unknown`, by as many of two unknown sets.
Outputs ManySamples(int known, bool unknown, absl::string_view stream) {
  constexpr int kFeatures = 8;
  RandomStream random(1, stream);
  Outputs outputs;
  outputs.num_outputs = 2;
  outputs.feature_dim = kFeatures;
  for (int i = 0; i < (unknown ? 2 : 1) * known; ++i) {
    const bool is_known = i < known;
    for (int d = 0; d < kFeatures; ++d) {
      const double center = !is_known ? 1 : d == i % 2 ? 2 : 0;
      outputs.features.push_back(static_cast<float>(center + random.Normal()));
    }
    for (int c = 0; c < 2; ++c) outputs.logits.push_back(outputs.features[kFeatures * i + c]);
    outputs.label.push_back(is_known ? i % 2 : -1);
    outputs.class_id.push_back(is_known ? (i % 2 == 0 ? 4 : 7) : 1 + i % 2);
    outputs.group.push_back(is_known ? -1 : i % 2);
  }
  outputs.group_names = {"a", "b"};
  return outputs;
}

// Fits, distances, metrics, intervals and curves use several threads.
TEST(Measure, NoBitDependsOnTheNumberOfThreads) {
  TrialSpec trial = Parse(R"(
    data {
      train { class_id: [4, 7] }
      test_known { class_id: [4, 7] }
      test_unknown { name: "a" selection { class_id: [1] } distance: NEAR }
      test_unknown { name: "b" selection { class_id: [2] } distance: FAR }
    }
    metric { accuracy {} }
    metric { auroc {} interval { replicates: 20 method: PERCENTILE } }
    metric { openauc {} }
    metric { aurc {} }
  )");
  const Outputs test = ManySamples(1500, true, "test"), fit = ManySamples(2000, false, "fit");
  for (const char* score : {"max_logit {}", "mahalanobis {}", "knn {}"}) {
    *trial.mutable_method()->mutable_score() = Parsed<ScoreSpec>(score);
    std::string bits[2];
    for (const int threads : {1, 4}) {
      LimitThreads(threads);
      const absl::StatusOr<TrialRecord> record = Measure(trial, test, &fit);
      ASSERT_THAT(record, IsOk()) << score;
      EXPECT_EQ(record->details().curve_size(), 4 + 2 * 2);
      bits[threads > 1] = record->SerializeAsString();
    }
    LimitThreads(std::numeric_limits<int>::max());
    EXPECT_EQ(bits[0], bits[1]) << score;
  }
}

TEST(Measure, RefusesNan) {
  Outputs outputs = SixSamples();
  outputs.logits[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(Measure(Trial(), outputs), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2")));
}

// Calibration uses the score's own probabilities.
TEST(Measure, CalibrationFollowsTheScore) {
  TrialSpec trial = Trial();
  trial.clear_metric();
  trial.add_metric()->mutable_nll();
  const double plain = Measure(trial, SixSamples())->metric(0).value();
  trial.mutable_method()->mutable_score()->mutable_temperature_scaled_softmax()->set_temperature(2);
  const double scaled = Measure(trial, SixSamples())->metric(0).value();
  // Gaps of the known samples' logits, towards their own class: 4, 2, 5, -1.
  const auto nll = [](double t) {
    return (std::log1p(std::exp(-4 / t)) + std::log1p(std::exp(-2 / t)) + std::log1p(std::exp(-5 / t)) +
            std::log1p(std::exp(1 / t))) /
           4;
  };
  EXPECT_NEAR(plain, nll(1), 1e-6);
  EXPECT_NEAR(scaled, nll(2), 1e-6);
}

}  // namespace
}  // namespace openset

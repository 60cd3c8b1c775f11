#include "experiments/evaluate/evaluation.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/temporary_folder.h"
#include "core/in_parallel.h"
#include "core/proto/proto_digest.h"
#include "core/random.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "eval/metrics/auroc.h"
#include "eval/metrics/metric.pb.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

TrialSpec Parse(const std::string& text) { return Parsed<TrialSpec>(text); }

// Known classes 4 and 7; sets "a" with class 1 and "b" with classes 1 and 2.
TrialSpec Trial() {
  return Parse(R"(data { test_known { class_id: [4, 7] }
                         test_unknown { name: "a" selection { class_id: [1] } }
                         test_unknown { name: "b" selection { class_id: [1, 2] } } })");
}

struct Samples {
  std::vector<double> score = {1, 2, 3, 4, 2.5, 0, 5};
  std::vector<int32_t> prediction = {0, 0, 1, 0, 1, 0, 1};
  std::vector<int32_t> label = {0, 0, 1, 1, -1, -1, -1};
  std::vector<int32_t> group = {0, 0, 0, 0, 0, 1, 1};
  std::vector<int64_t> class_id = {4, 4, 7, 7, 1, 1, 2};

  TrialDetails Details(const TrialSpec& trial) const {
    EvaluationInput::Arrays arrays;
    arrays.unknown_score = score;
    arrays.prediction = prediction;
    arrays.label = label;
    arrays.group = group;
    arrays.num_classes = 2;
    Outputs outputs;
    outputs.class_id = class_id;
    return MakeDetails(trial, outputs, RankedInput(EvaluationInput::Create(arrays).value()));
  }
};

double Area(const RecordedCurve& curve) {
  double area = 0;
  for (int i = 1; i < curve.x_size(); ++i) area += (curve.x(i) - curve.x(i - 1)) * (curve.y(i) + curve.y(i - 1)) / 2;
  return area;
}

TEST(MakeDetails, HasTheCurvesOfThePoolAndOfEachSet) {
  const TrialDetails details = Samples().Details(Trial());
  ASSERT_EQ(details.curve_size(), 4 + 2 * 2);
  EXPECT_EQ(details.curve(0).kind(), RecordedCurve::ROC);
  // Pairs of known and unknown where the unknown's score is larger: 2 + 0 + 4 of 4 * 3.
  EXPECT_NEAR(Area(details.curve(0)), 6.0 / 12, 1e-6);
  EXPECT_EQ(details.curve(4).set(), "a");
  EXPECT_NEAR(Area(details.curve(4)), 2.0 / 4, 1e-6);
  EXPECT_NEAR(Area(details.curve(6)), 4.0 / 8, 1e-6);
  // Without the pairs of the sample that is classified wrongly: 2 + 3.
  EXPECT_NEAR(Area(details.curve(1)), 5.0 / 12, 1e-6);
}

// 4,000 samples: a curve of as many points.
TEST(MakeDetails, ThinsCurvesWithoutChangingTheirAreas) {
  RandomStream random(1, "details");
  Samples samples;
  samples.score.clear();
  samples.prediction.clear();
  samples.label.clear();
  for (int i = 0; i < 4000; ++i) {
    const bool known = i % 2 == 0;
    samples.score.push_back(random.Normal() + (known ? 0 : 1));
    samples.label.push_back(known ? 0 : -1);
    samples.prediction.push_back(0);
  }
  samples.group.assign(4000, 0);
  samples.class_id.assign(4000, 4);
  const TrialDetails details = samples.Details(Trial());
  EXPECT_GE(details.curve(0).x_size(), 20);
  EvaluationInput::Arrays arrays;
  arrays.unknown_score = samples.score;
  arrays.prediction = samples.prediction;
  arrays.label = samples.label;
  arrays.num_classes = 1;
  const RankedInput ranked(EvaluationInput::Create(arrays).value());
  EXPECT_NEAR(Area(details.curve(0)), Auroc(ranked).value.value(), 1e-3);
  for (const RecordedCurve& curve : details.curve()) EXPECT_LE(curve.x_size(), 512);
}

TEST(MakeDetails, CountsScoresInBinsAndOutside) {
  Samples samples;
  samples.score[0] = -std::numeric_limits<double>::infinity();
  const ScoreDensity density = samples.Details(Trial()).density();
  ASSERT_EQ(density.series_size(), 4);  // right, wrong, "a", "b"
  EXPECT_EQ(density.series(0).below(), 1);
  EXPECT_EQ(density.series(3).set(), "b");
  EXPECT_EQ(density.low(), 0);
  EXPECT_EQ(density.high(), 5);
  EXPECT_EQ(density.series(3).count(0), 1);
  EXPECT_EQ(density.series(3).count(density.series(3).count_size() - 1), 1);
}

TEST(MakeDetails, DecidesByTheMethodsOwnThreshold) {
  TrialSpec trial = Trial();
  const DecisionTable accepting = Samples().Details(trial).decisions();
  EXPECT_EQ(accepting.rule(), "95 % of the known samples are accepted");
  EXPECT_EQ(accepting.threshold(), 4);  // all four: three are too few
  trial = Parse(trial.DebugString() + " method { decision { threshold: 2 } }");
  const DecisionTable table = Samples().Details(trial).decisions();
  ASSERT_EQ(table.known_size(), 2);
  EXPECT_EQ(table.known(0).class_id(), 4);
  EXPECT_EQ(table.known(0).rejected(), 0);
  EXPECT_EQ(table.known(1).samples(), 2);
  EXPECT_EQ(table.known(1).rejected(), 2);
  EXPECT_EQ(table.known(1).right(), 1);
  EXPECT_EQ(table.known(1).right_rejected(), 1);
  ASSERT_EQ(table.unknown_size(), 3);  // class 1 of "a", 1 and 2 of "b"
  EXPECT_EQ(table.unknown(1).set(), "b");
  EXPECT_EQ(table.unknown(1).rejected(), 0);
  EXPECT_EQ(table.unknown(2).rejected(), 1);
  // Accepted: two of class 4, and the sample at 0.
  ASSERT_EQ(table.confusion_size(), 2);
  EXPECT_EQ(table.confusion(0).actual(), 0);
  EXPECT_EQ(table.confusion(0).samples(), 2);
  EXPECT_EQ(table.confusion(1).actual(), -1 - 1);
  EXPECT_EQ(table.confusion(1).predicted(), 0);
}

TEST(MakeDetails, NamesTheLargestMistakesAtTheThreshold) {
  const auto rows_of = [](const TrialDetails& details) {
    std::map<Mistake::Kind, std::vector<int64_t>> rows;
    for (const Mistake& mistake : details.mistake()) rows[mistake.kind()].push_back(mistake.row());
    return rows;
  };
  const TrialDetails details = Samples().Details(Trial());  // accepts up to 4: all known samples
  EXPECT_THAT(rows_of(details), UnorderedElementsAre(Pair(Mistake::UNKNOWN_TAKEN_FOR_KNOWN, ElementsAre(5, 4)),
                                                     Pair(Mistake::WRONG_CLASS, ElementsAre(3))));
  EXPECT_EQ(details.mistake(0).set(), "b");
  EXPECT_EQ(details.mistake(0).predicted_label(), 0);
  // Row 3 is rejected, so that its class doesn't count.
  const TrialSpec at_2 = Parse(Trial().DebugString() + " method { decision { threshold: 2 } }");
  EXPECT_THAT(rows_of(Samples().Details(at_2)),
              UnorderedElementsAre(Pair(Mistake::KNOWN_TAKEN_FOR_UNKNOWN, ElementsAre(3, 2)),
                                   Pair(Mistake::UNKNOWN_TAKEN_FOR_KNOWN, ElementsAre(5))));
}

TEST(MakeDetails, LeavesOutUndefinedCurves) {
  Samples samples;
  for (int32_t& label : samples.label) label = 0;
  const TrialDetails known = samples.Details(Trial());
  ASSERT_EQ(known.curve_size(), 1);
  EXPECT_EQ(known.curve(0).kind(), RecordedCurve::RISK_COVERAGE);
  for (int32_t& label : samples.label) label = -1;
  const TrialDetails unknown = samples.Details(Trial());
  EXPECT_FALSE(unknown.has_decisions());
}

// A training, identified by its commit.
TrainSummary Trained(uint64_t seed, const std::string& commit, const std::string& start = "") {
  TrainSummary summary;
  summary.mutable_action()->mutable_train()->set_seed(seed);
  if (!start.empty()) {
    ActionInput* input = summary.mutable_action()->add_input();
    input->set_role(ActionInput::START);
    input->set_key(start);
  }
  summary.mutable_provenance()->set_stage(StageProvenance::TRAIN);
  summary.mutable_provenance()->set_commit(commit);
  summary.set_checkpoint_sha256(commit);
  summary.add_epoch()->set_loss(0.5);
  return summary;
}

// An inference with the networks of `models` among `trainings`.
InferSummary Inferred(const std::vector<TrainSummary>& trainings, const std::vector<size_t>& models,
                      const std::string& commit) {
  InferSummary summary;
  summary.mutable_action()->mutable_infer();
  for (const size_t model : models) {
    ActionInput* input = summary.mutable_action()->add_input();
    input->set_role(ActionInput::MODEL);
    input->set_key(MessageDigest(trainings[model].action()));
  }
  for (const TrainSummary& training : trainings) *summary.add_training() = training;
  summary.mutable_provenance()->set_stage(StageProvenance::INFER);
  summary.mutable_provenance()->set_commit(commit);
  return summary;
}

// "TRAIN a" ...
std::vector<std::string> Lines(const InferSummary& test, const InferSummary* fit) {
  TrialRecord record;
  EXPECT_TRUE(AddInputs(test, fit, &record).ok());
  std::vector<std::string> lines;
  for (const StageProvenance& stage : record.provenance().stage()) {
    lines.push_back(StageProvenance::Stage_Name(stage.stage()) + " " + stage.commit());
  }
  return lines;
}

TEST(AddInputs, HasEachMemberOfAnEnsembleThenInferenceAndFit) {
  const std::vector<TrainSummary> members = {Trained(0, "a"), Trained(1, "b")};
  const InferSummary test = Inferred(members, {0, 1}, "c"), fit = Inferred(members, {0, 1}, "d");
  EXPECT_THAT(Lines(test, &fit), ElementsAre("TRAIN a", "TRAIN b", "INFER c", "FIT d"));
  EXPECT_THAT(Lines(test, nullptr), ElementsAre("TRAIN a", "TRAIN b", "INFER c"));
}

TEST(AddInputs, ATrainingComesAfterTheOneItStartsFrom) {
  const TrainSummary first = Trained(3, "first"), second = Trained(7, "second", MessageDigest(first.action()));
  const InferSummary test = Inferred({first, second}, {1}, "infer");
  EXPECT_THAT(Lines(test, nullptr), ElementsAre("TRAIN first", "TRAIN second", "INFER infer"));
  TrialRecord record;
  ASSERT_TRUE(AddInputs(test, nullptr, &record).ok());
  EXPECT_EQ(record.checkpoint_key(), MessageDigest(second.action()));
  EXPECT_EQ(record.checkpoint_sha256(), "second");
  EXPECT_EQ(record.epoch_size(), 1);
}

TEST(AddInputs, TellsTheTensorsThatImportsLeftOutEachOnce) {
  TrainSummary a = Trained(0, "a"), b = Trained(1, "b");
  for (const char* tensor : {"bn.bias", "bn.weight"}) a.add_ignored_tensor(tensor);
  for (const char* tensor : {"bn.bias", "extra"}) b.add_ignored_tensor(tensor);
  for (TrainSummary* training : {&a, &b}) training->add_import_note("a prefix");
  TrialRecord record;
  ASSERT_TRUE(AddInputs(Inferred({a, b}, {0, 1}, "c"), nullptr, &record).ok());
  EXPECT_THAT(record.ignored_tensor(), ElementsAre("bn.bias", "bn.weight", "extra"));
  EXPECT_THAT(record.import_note(), ElementsAre("a prefix"));
}

TEST(AddInputs, OutputsWithoutTheirTrainingsAreCorrupt) {
  InferSummary test = Inferred({Trained(0, "a")}, {0}, "b");
  test.clear_training();
  TrialRecord record;
  EXPECT_EQ(AddInputs(test, nullptr, &record).code(), absl::StatusCode::kDataLoss);
}

// Two known classes, two known samples of each, two unknown samples.
TrialSpec EvaluationTrial() {
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
  ASSERT_OK_AND_ASSIGN(const TrialRecord record, Measure(EvaluationTrial(), SixSamples()));
  ASSERT_EQ(record.metric_size(), 4);
  EXPECT_EQ(record.metric(0).name(), "accuracy");
  EXPECT_DOUBLE_EQ(record.metric(0).value(), 3.0 / 4);
  // Unknown scores: known -4 -3 -5 -2, unknown -1 -3.5. The first unknown beats all four known samples, the second
  // those at -4 and -5.
  EXPECT_DOUBLE_EQ(record.metric(1).value(), 6.0 / 8);
  // The pairs of the sample that is classified wrongly do not count: 3 + 2.
  EXPECT_DOUBLE_EQ(record.metric(2).value(), 5.0 / 8);
}

TEST(Measure, WithoutDetailsTheMetricsAreTheSame) {
  TrialRecord record = *Measure(EvaluationTrial(), SixSamples());
  EXPECT_TRUE(record.has_details());
  record.clear_details();
  ASSERT_OK_AND_ASSIGN(const TrialRecord metrics, MeasureMetrics(EvaluationTrial(), SixSamples()));
  EXPECT_EQ(metrics.SerializeAsString(), record.SerializeAsString());
}

TEST(Measure, CountsTheSamples) {
  ASSERT_OK_AND_ASSIGN(const TrialRecord record, Measure(EvaluationTrial(), SixSamples()));
  EXPECT_EQ(record.counts().known(), 4);
  EXPECT_EQ(record.counts().unknown(), 2);
  EXPECT_EQ(record.counts().known_classes(), 2);
  EXPECT_EQ(record.counts().unknown_classes(), 3);
  ASSERT_EQ(record.counts().group_size(), 1);
  EXPECT_EQ(record.counts().group(0).name(), "unknown");
  EXPECT_EQ(record.counts().group(0).samples(), 2);
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
  TrialSpec trial = EvaluationTrial();
  OpenMaxSpec* openmax = trial.mutable_method()->mutable_score()->mutable_openmax();
  openmax->set_tail(2);
  openmax->set_translation(1);
  ASSERT_OK_AND_ASSIGN(const TrialRecord closed_set, Measure(trial, outputs, &fit));
  EXPECT_DOUBLE_EQ(closed_set.metric(0).value(), 1);
  openmax->set_prediction(OpenMaxSpec::REVISED);
  ASSERT_OK_AND_ASSIGN(const TrialRecord revised, Measure(trial, outputs, &fit));
  EXPECT_DOUBLE_EQ(revised.metric(0).value(), 2.0 / 3);
  EXPECT_EQ(revised.metric(1).value(), closed_set.metric(1).value());  // the score is the same
  EXPECT_DOUBLE_EQ(closed_set.metric(2).value(), 1);
  EXPECT_DOUBLE_EQ(revised.metric(2).value(), 2.0 / 3);
}

TEST(Measure, ReadsTheDisagreementOfSeveralPasses) {
  TrialSpec trial = EvaluationTrial();
  trial.mutable_method()->mutable_score()->mutable_mutual_information();
  Outputs outputs = SixSamples();
  EXPECT_THAT(Measure(trial, outputs).status().message(), HasSubstr("needs member_uncertainty"));
  for (const float mutual : {0.0f, 0.1f, 0.2f, 0.3f, 0.4f, 0.15f}) {
    outputs.member_uncertainty.insert(outputs.member_uncertainty.end(), {mutual, 9, 9});
  }
  ASSERT_OK_AND_ASSIGN(const TrialRecord record, Measure(trial, outputs));
  EXPECT_DOUBLE_EQ(record.metric(1).value(), (4 + 2) / 8.0);
}

TEST(Measure, UndefinedMetricsAreAbsentWithAReason) {
  Outputs outputs = SixSamples();
  outputs.logits.resize(8);
  outputs.label.resize(4);
  outputs.class_id.resize(4);
  outputs.group.resize(4);
  ASSERT_OK_AND_ASSIGN(const TrialRecord record, Measure(EvaluationTrial(), outputs));
  EXPECT_DOUBLE_EQ(record.metric(0).value(), 3.0 / 4);
  EXPECT_FALSE(record.metric(1).has_value());
  EXPECT_THAT(record.metric(1).absent_reason(), HasSubstr("unknown"));
}

// The same outputs as two sets of one sample each. The scores are -4 -3 -5 -2 for known samples, -1 (above all four) in
// "a", and -3.5 (above two) in "b".
TrialSpec TwoSets() {
  TrialSpec trial = EvaluationTrial();
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
  ASSERT_OK_AND_ASSIGN(const TrialRecord record, Measure(TwoSets(), SamplesOfTwoSets()));
  std::map<std::string, std::map<std::string, double>> values;
  for (const MetricRecord& metric : record.metric()) values[GroupText(metric.group())][metric.name()] = metric.value();
  EXPECT_EQ(values["pool"]["accuracy"], 3.0 / 4);
  EXPECT_EQ(values["pool"]["auroc"], 6.0 / 8);
  EXPECT_EQ(values["a"]["auroc"], 1);
  EXPECT_EQ(values["b"]["auroc"], 2.0 / 4);
  EXPECT_EQ(values["mean of far"]["auroc"], 3.0 / 4);
  EXPECT_EQ(values["a"].count("accuracy"), 0);  // of known samples only
  EXPECT_EQ(values.count("mean of near"), 0);
  // The pool comes first: searches read it.
  EXPECT_EQ(record.metric(0).group().kind(), MetricGroup::POOL);
}

TEST(Measure, RecordsDescribeTheirNumbers) {
  TrialSpec trial = EvaluationTrial();
  trial.mutable_metric(3)->mutable_aupr_unknown()->set_form(AuprSpec::TRAPEZOID);
  ASSERT_OK_AND_ASSIGN(const TrialRecord record, Measure(trial, SixSamples()));
  EXPECT_EQ(record.metric(3).spec().aupr_unknown().form(), AuprSpec::TRAPEZOID);
  EXPECT_EQ(record.metric(1).unit(), "share");
  EXPECT_TRUE(record.metric(1).higher_is_better());
  EXPECT_EQ(record.metric(1).group().kind(), MetricGroup::POOL);
  EXPECT_FALSE(record.metric(1).has_interval());
}

// The intervals are BootstrapIntervals()'s. The interval of "a" is a point, because all pairs are in order in each
// replicate. The interval of the mean over both sets is half as wide as b's, because both use the same draws of known
// samples.
TEST(Measure, ComputesRequestedIntervals) {
  TrialSpec trial = TwoSets();
  trial.mutable_metric(1)->mutable_interval()->set_replicates(200);
  trial.mutable_metric(1)->mutable_interval()->set_method(IntervalSpec::PERCENTILE);
  ASSERT_OK_AND_ASSIGN(const TrialRecord record, Measure(trial, SamplesOfTwoSets()));
  int intervals = 0;
  std::map<std::string, double> width;
  for (const MetricRecord& metric : record.metric()) {
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
  EXPECT_LT(record.metric(1).interval().low(), record.metric(1).interval().high());
}

// The samples of both sets 20 times: each of 20 blocks has one sample of each set, and four known ones.
TEST(Measure, HasTheValuesWithoutEachBlock) {
  const Outputs once = SamplesOfTwoSets();
  Outputs outputs = once;
  for (int copy = 1; copy < 20; ++copy) {
    outputs.logits.insert(outputs.logits.end(), once.logits.begin(), once.logits.end());
    outputs.label.insert(outputs.label.end(), once.label.begin(), once.label.end());
    outputs.class_id.insert(outputs.class_id.end(), once.class_id.begin(), once.class_id.end());
    outputs.group.insert(outputs.group.end(), once.group.begin(), once.group.end());
  }
  ASSERT_OK_AND_ASSIGN(const TrialRecord record, Measure(TwoSets(), outputs));
  std::map<std::string, const MetricRecord*> auroc;
  for (const MetricRecord& metric : record.metric()) {
    const bool has_blocks = metric.name() == "auroc" || metric.name() == "openauc";
    EXPECT_EQ(metric.without_block_size(), has_blocks ? 20 : 0) << metric.name();
    if (metric.name() == "auroc") auroc[GroupText(metric.group())] = &metric;
  }
  ASSERT_EQ(auroc.size(), 4);
  EXPECT_THAT(auroc["a"]->without_block(), Each(1));
  double sum = 0;
  for (int b = 0; b < 20; ++b) {
    EXPECT_NEAR(auroc["mean of far"]->without_block(b), (1 + auroc["b"]->without_block(b)) / 2, 1e-6);
    // As many samples of either set are left in the pool.
    EXPECT_NEAR(auroc["pool"]->without_block(b), auroc["mean of far"]->without_block(b), 1e-6);
    sum += auroc["pool"]->without_block(b);
  }
  EXPECT_NEAR(sum / 20, auroc["pool"]->value(), 0.001);
  ASSERT_OK_AND_ASSIGN(const TrialRecord few, Measure(TwoSets(), once));
  EXPECT_EQ(few.metric(1).without_block_size(), 0);
}

// Temperature scaling, fitted to outputs that are wrong as often as their softmax predicts.
TEST(Measure, FitsTheScoreFirst) {
  TrialSpec trial = EvaluationTrial();
  trial.mutable_method()->mutable_score()->mutable_temperature_scaled_softmax();
  EXPECT_THAT(Measure(trial, SixSamples()), StatusIs(absl::StatusCode::kFailedPrecondition));
  Outputs fit;
  fit.num_outputs = 2;
  fit.logits = {1, 0, 1, 0, 1, 0, 0, 1};
  fit.label = {0, 0, 1, 1};
  ASSERT_OK_AND_ASSIGN(const TrialRecord record, Measure(trial, SixSamples(), &fit));
  // The gaps between the two logits are 4 2 5 1 for known samples, and 1 and 3.5 for unknown ones; smaller = more
  // unknown. The first unknown sample beats three and ties with one, the second beats two.
  EXPECT_DOUBLE_EQ(record.metric(1).value(), (3 + 0.5 + 2) / 8);
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
  EXPECT_THAT(Measure(EvaluationTrial(), outputs), IsInvalidArgument("2"));
}

// Calibration uses the score's own probabilities.
TEST(Measure, CalibrationFollowsTheScore) {
  TrialSpec trial = EvaluationTrial();
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

// A record says which file its features are of, not where it was on the machine. No key covers the path.
TEST(EvaluateTrial, ARecordHasNoPathOfAFileOfFeatures) {
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Make("evaluation"));
  const Store store(JoinPath(folder.path(), "store"));
  TrainSummary training = Trained(0, "a");
  training.set_checkpoint_sha256(Sha256Hex("weights"));
  InferSummary summary = Inferred({training}, {0}, "b");
  const std::string outputs_key = MessageDigest(summary.action());
  summary.mutable_provenance()->set_key(outputs_key);
  ASSERT_OK_AND_ASSIGN(const std::string staging, store.NewStagingFolder(outputs_key));
  ASSERT_THAT(WriteOutputs(SixSamples(), JoinPath(staging, kOutputsFile)), IsOk());
  ASSERT_THAT(store.CommitResult(staging, summary), IsOk());

  TrialSpec trial = EvaluationTrial();
  trial.mutable_data()->mutable_test_known()->set_data_set("features:/lab/secret/net.npz");
  trial.mutable_data()->mutable_test_known()->set_part_digest("d1");
  trial.mutable_data()->mutable_test_unknown(0)->mutable_selection()->set_data_set("features:/lab/secret/far.npz");
  ActionSpec evaluate;
  evaluate.mutable_evaluate();
  ActionInput* input = evaluate.add_input();
  input->set_role(ActionInput::TEST);
  input->set_key(outputs_key);
  const std::string key = MessageDigest(trial);
  ASSERT_THAT(EvaluateTrial(key, evaluate, trial, store), IsOk());
  ASSERT_OK_AND_ASSIGN(const TrialRecord record, store.LoadRecord(key));
  EXPECT_EQ(record.trial().data().test_known().data_set(), "features:net.npz");
  EXPECT_EQ(record.trial().data().test_known().part_digest(), "d1");
  EXPECT_EQ(record.trial().data().test_unknown(0).selection().data_set(), "features:far.npz");
  EXPECT_THAT(record.ShortDebugString(), Not(HasSubstr("secret")));
  EXPECT_EQ(MessageDigest(record.trial()), key);
}

}  // namespace
}  // namespace openset

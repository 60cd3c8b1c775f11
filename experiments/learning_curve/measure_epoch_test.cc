#include "experiments/learning_curve/measure_epoch.h"

#include <cmath>
#include <string>

#include "core/files/files.h"
#include "core/proto/proto_digest.h"
#include "core/testing/status_matchers.h"
#include "eval/scores/score.pb.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/infer/inference.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/train/testing/training_scene.h"
#include "experiments/worker/trained_model.h"

namespace openset {
namespace {

TEST(MeasureEpoch, EvaluationOnTheWayChangesNoBitOfTheTraining) {
  const TrainingScene scene;
  const TrialSpec plain = scene.Trial(), with = WithCurve(plain, EvaluateEverySpec::TEST);
  TrialSpec dropout = with;  // draws its own masks
  dropout.mutable_method()->mutable_inference()->mutable_mc_dropout()->set_passes(3);
  dropout.mutable_method()->mutable_inference()->mutable_mc_dropout()->set_average(PROBABILITIES);
  const TrainSummary undisturbed = Trained(MakeTraining(plain).train(), scene);
  for (const TrialSpec& trial : {with, dropout}) {
    const TrainAction action = MakeTraining(trial).train();
    EXPECT_FALSE(action.training().has_evaluate_every());
    const TrainSummary measured = Trained(action, scene);
    // The keys in the files' metadata differ, so only the tensors are compared.
    ASSERT_OK_AND_ASSIGN(const auto a, LoadTrainedModel(KeyOf(MakeTraining(plain).train()), scene.Context()));
    ASSERT_OK_AND_ASSIGN(const auto b, LoadTrainedModel(KeyOf(action), scene.Context()));
    for (const auto& parameter : a->named_parameters()) {
      EXPECT_TRUE(at::equal(parameter.value(), b->named_parameters()[parameter.key()])) << parameter.key();
    }
    ASSERT_EQ(measured.epoch_size(), 3);
    for (int e = 0; e < 3; ++e) {
      EXPECT_EQ(measured.epoch(e).loss(), undisturbed.epoch(e).loss());
      EXPECT_EQ(measured.epoch(e).metric_size(), e == 0 ? 0 : 2);  // after 2 epochs, and the last
    }
  }
}

// The evaluation after the last epoch equals the trial's record, for which the outputs are enough.
TEST(MeasureEpoch, TheCurveEndsAtTheRecordsValues) {
  const TrainingScene scene;
  const TrialSpec trial = WithCurve(scene.Trial(), EvaluateEverySpec::TEST);
  const TrainSummary summary = Trained(MakeTraining(trial).train(), scene);
  const ActionSpec infer = MakeAction(trial, ActionKind::kInfer);
  const std::string key = MessageDigest(infer);
  ASSERT_THAT(Infer({{key, infer}}, scene.Context(key)), IsOk());
  const ActionContext context = scene.Context();
  const std::string checkpoint = context.store.CheckpointFolder(MessageDigest(MakeTraining(trial)));
  ASSERT_TRUE(FileExists(checkpoint));
  ASSERT_THAT(context.store.Remove(checkpoint), IsOk());
  ASSERT_THAT(EvaluateTrial(TrialId(trial), MakeAction(trial, ActionKind::kEvaluate), trial, context.store), IsOk());
  ASSERT_OK_AND_ASSIGN(const TrialRecord record, context.store.LoadRecord(TrialId(trial)));
  ASSERT_EQ(record.metric_size(), 2);
  ASSERT_EQ(record.epoch_size(), 3);
  EXPECT_EQ(record.checkpoint_sha256(), summary.checkpoint_sha256());
  for (int m = 0; m < 2; ++m) {
    EXPECT_EQ(record.epoch(2).metric(m).ShortDebugString(), record.metric(m).ShortDebugString());
    EXPECT_TRUE(record.epoch(2).metric(m).has_value());
  }
  EXPECT_EQ(record.epoch(1).metric_size(), 2);
}

TEST(MeasureEpoch, ValidationSamplesAreTheKnownOnesThatAreKept) {
  const TrainingScene scene;
  const TrainAction action = MakeTraining(WithCurve(scene.Trial(), EvaluateEverySpec::VALIDATION)).train();
  EXPECT_EQ(action.evaluation().known().only_last_per_class(), 2);
  const TrainSummary summary = Trained(action, scene);
  const MetricRecord& accuracy = summary.epoch(2).metric(0);
  // There are 6 samples.
  EXPECT_NEAR(accuracy.value() * 6, std::round(accuracy.value() * 6), 1e-9);
  EXPECT_EQ(summary.epoch(2).metric(1).value(), 0);
  EXPECT_FALSE(summary.epoch(2).metric(1).has_value());  // no unknown samples: no AUROC
  EXPECT_NE(summary.epoch(2).metric(1).absent_reason(), "");
}

TEST(MeasureEpoch, ContinuesIfAScoreCannotBeFittedYet) {
  const TrainingScene scene;
  TrialSpec trial = WithCurve(scene.Trial(), EvaluateEverySpec::TEST);
  trial.mutable_method()->mutable_training()->mutable_evaluate_every()->mutable_score()->mutable_knn()->set_k(1000);
  const TrainSummary summary = Trained(MakeTraining(trial).train(), scene);
  ASSERT_EQ(summary.epoch_size(), 3);
  for (const int e : {1, 2}) {
    ASSERT_EQ(summary.epoch(e).metric_size(), 2);
    EXPECT_EQ(summary.epoch(e).metric(1).name(), "auroc");
    EXPECT_FALSE(summary.epoch(e).metric(1).has_value());
    EXPECT_THAT(summary.epoch(e).metric(1).absent_reason(),
                testing::HasSubstr("k = 1000 needs as many training samples"));
  }
}

TEST(MeasureEpoch, ANamedScoreIsSharedByMethodsThatScoreOtherwise) {
  const TrainingScene scene;
  TrialSpec one = WithCurve(scene.Trial(), EvaluateEverySpec::TEST), two = one;
  two.mutable_method()->mutable_score()->mutable_energy();
  EXPECT_NE(MessageDigest(MakeTraining(one).train()), MessageDigest(MakeTraining(two).train()));
  for (TrialSpec* trial : {&one, &two}) {
    trial->mutable_method()->mutable_training()->mutable_evaluate_every()->mutable_score()->mutable_max_logit();
  }
  EXPECT_EQ(MessageDigest(MakeTraining(one).train()), MessageDigest(MakeTraining(two).train()));
}

}  // namespace
}  // namespace openset

#include "experiments/train/training.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "experiments/learning_curve/measure_epoch.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/train/testing/training_scene.h"
#include "experiments/train/training_run.h"
#include "models/checkpoint.h"

namespace openset {
namespace {

// The key of a training, by a name for it.
std::string Key(const std::string& name) { return Sha256Hex(name); }

TensorMap WeightsOf(const std::string& key, const TrainingScene& scene) {
  absl::StatusOr<TensorMap> weights =
      LoadTensors(JoinPath(scene.Context().store.CheckpointFolder(key), kCheckpointFile));
  EXPECT_THAT(weights, IsOk());
  return *std::move(weights);
}

TEST(Train, CommitsTheCheckpointAndItsCurve) {
  const TrainingScene scene;
  const TrainSummary summary = Trained(scene.Action(), scene);
  ASSERT_EQ(summary.epoch_size(), 3);
  for (int e = 0; e < 3; ++e) {
    EXPECT_EQ(summary.epoch(e).epoch(), e);
    EXPECT_EQ(summary.epoch(e).term_size(), 3);
    EXPECT_EQ(summary.epoch(e).metric_size(), 0);
  }
  EXPECT_FALSE(FileExists(scene.Context(KeyOf(scene.Action())).store.PartialPath("0")));
}

// Neither a result nor a state may come from them; with the old images back, the result is the same as of an
// undisturbed training.
TEST(Train, ImagesThatChangeMeanwhileFailIt) {
  const TrainingScene scene;
  const TrainAction action = scene.Action();
  const TrainSummary undisturbed = Trained(action, scene);
  ActionContext context = scene.Context(Key("changed"));
  const std::string path = JoinPath(context.images->data_folders()[0], "noise/train-images");
  const std::string images = *ReadFile(path);
  std::string others = images;
  others.back() ^= 1;
  for (const bool stops : {false, true}) {
    int steps = 0;
    context.poll = [&] {
      if (++steps == 2) {
        EXPECT_THAT(WriteFileAtomically(path, others), IsOk());
      }
      return stops && steps == 3;
    };
    const absl::Status status = Train(action, context, MeasureEpoch);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(status.message(), ::testing::HasSubstr(path));
    EXPECT_FALSE(FileExists(context.store.CheckpointFolder(context.key)));
    // Before it begins, the images are compared with the digest.
    context.images->BeginAction();
    EXPECT_TRUE(absl::IsDataLoss(Train(action, context, MeasureEpoch)));
    ASSERT_THAT(WriteFileAtomically(path, images), IsOk());
    context.images->BeginAction();
  }
  context.poll = [] { return false; };
  ASSERT_THAT(Train(action, context, MeasureEpoch), IsOk());
  ASSERT_OK_AND_ASSIGN(const TrainSummary summary, context.store.LoadTrainSummary(context.key));
  ASSERT_EQ(summary.epoch_size(), undisturbed.epoch_size());
  for (int e = 0; e < summary.epoch_size(); ++e) {
    EXPECT_EQ(summary.epoch(e).ShortDebugString(), undisturbed.epoch(e).ShortDebugString());
  }
}

TEST(Train, StoppedEarlyAndContinuedEqualsTheWholeTraining) {
  const TrainingScene scene;
  const TrainAction whole = scene.Action();
  const TrainSummary undisturbed = Trained(whole, scene);
  TrainAction stopped = whole;
  std::string before;
  for (const int stop : {1, 2, 0}) {
    stopped.mutable_training()->set_stop_after_epochs(stop);
    ActionContext context = scene.Context(Key(absl::StrCat("stopped after ", stop)));
    context.continued_key = before;
    int first_epoch = 0;
    WorkProgress last;
    context.report = [&](const WorkProgress& progress) {
      if (first_epoch == 0) first_epoch = progress.epoch();
      last = progress;
    };
    ASSERT_THAT(Train(stopped, context, MeasureEpoch), IsOk());
    EXPECT_EQ(first_epoch, stop == 0 ? 3 : stop);  // it went on from the one before
    // However short the training was, its last report has the rate of all of it.
    EXPECT_EQ(last.epoch(), stop == 0 ? 3 : stop);
    EXPECT_GT(last.images_per_second(), 0);
    ASSERT_OK_AND_ASSIGN(const TrainSummary summary, context.store.LoadTrainSummary(context.key));
    ASSERT_EQ(summary.epoch_size(), stop == 0 ? 3 : stop);
    for (int e = 0; e < summary.epoch_size(); ++e) {
      EXPECT_EQ(summary.epoch(e).ShortDebugString(), undisturbed.epoch(e).ShortDebugString());
    }
    EXPECT_EQ(summary.action().train().training().stop_after_epochs(), stop);
    // The state from which other trainings may continue.
    EXPECT_EQ(FileExists(JoinPath(context.store.CheckpointFolder(context.key), kStateFile)), stop != 0);
    before = context.key;
  }
  // The final tensors are the same, including the optimiser's. So are the tensors of a stopped training that doesn't
  // continue another one.
  ExpectSameState(WeightsOf(Key("stopped after 0"), scene), WeightsOf(KeyOf(whole), scene));
  stopped.mutable_training()->set_stop_after_epochs(2);
  ASSERT_THAT(Train(stopped, scene.Context(Key("alone"))), IsOk());
  ExpectSameState(WeightsOf(Key("alone"), scene), WeightsOf(Key("stopped after 2"), scene));
}

// Expects that the training `key` is bit-identical to the one of `undisturbed`, whose key is the digest of its action.
void ExpectSameTraining(const std::string& key, const TrainSummary& undisturbed, const TrainingScene& scene) {
  ASSERT_OK_AND_ASSIGN(const TrainSummary summary, scene.Context().store.LoadTrainSummary(key));
  ASSERT_EQ(summary.epoch_size(), undisturbed.epoch_size());
  for (int e = 0; e < summary.epoch_size(); ++e) {
    EXPECT_EQ(summary.epoch(e).ShortDebugString(), undisturbed.epoch(e).ShortDebugString());
  }
  ExpectSameState(WeightsOf(key, scene), WeightsOf(KeyOf(undisturbed.action().train()), scene));
  EXPECT_FALSE(FileExists(scene.Context().store.PartialPath(key)));
}

// Continues a training of 3 epochs of 3 steps from its saved state, and asks it to stop after `step` steps.
void TrainUntil(int step, const TrainAction& action, ActionContext context) {
  int asked = 0;
  context.poll = [&] { return ++asked == step; };
  EXPECT_THAT(Train(action, context, MeasureEpoch),
              StatusIs(absl::StatusCode::kCancelled, testing::HasSubstr("its state is saved")));
  EXPECT_EQ(asked, step);
  EXPECT_TRUE(FileExists(context.store.PartialPath(context.key)));
  EXPECT_FALSE(context.store.LoadTrainSummary(context.key).ok());
}

TEST(Train, StoppedAfterAnyStepItEndsWithTheSameBits) {
  const TrainingScene scene;
  for (const TrialSpec& trial : {scene.Trial(), WithCurve(scene.Trial(), EvaluateEverySpec::TEST)}) {
    const TrainAction action = MakeTraining(trial).train();
    const TrainSummary undisturbed = Trained(action, scene);
    for (int step = 1; step < 9; ++step) {
      const std::string key = Key(absl::StrCat("stopped after step ", step, action.has_evaluation()));
      TrainUntil(step, action, scene.Context(key));
      ActionContext context = scene.Context(key);
      int steps = 0;
      context.poll = [&] { return ++steps < 0; };
      ASSERT_THAT(Train(action, context, MeasureEpoch), IsOk());
      EXPECT_EQ(steps, 9 - step);
      ExpectSameTraining(key, undisturbed, scene);
    }
  }
}

// The training is stopped after each step, and measured after the second and the last epoch.
TEST(Train, StoppedAfterEachStepItEndsWithTheSameBits) {
  const TrainingScene scene;
  const TrainAction action = MakeTraining(WithCurve(scene.Trial(), EvaluateEverySpec::TEST)).train();
  const TrainSummary undisturbed = Trained(action, scene);
  int runs = 0;
  absl::Status status;
  double wall_seconds = 0;
  for (; runs < 20; ++runs) {
    ActionContext context = scene.Context(Key("stopped"));
    context.poll = [] { return true; };
    status = Train(action, context, MeasureEpoch);
    if (!absl::IsCancelled(status)) break;
    const absl::StatusOr<SavedTraining> saved =
        LoadTrainingState(context.store.PartialPath(Key("stopped")), Key("stopped"));
    ASSERT_THAT(saved, IsOk());
    EXPECT_EQ(saved->summary.epoch_size(), (runs + 1) / 3);
    // Sums over all runs so far.
    EXPECT_GT(saved->summary.provenance().wall_seconds(), wall_seconds);
    EXPECT_GT(saved->summary.provenance().images_per_second(), 0);
    wall_seconds = saved->summary.provenance().wall_seconds();
  }
  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(runs, 9);  // then one that only measures
  ExpectSameTraining(Key("stopped"), undisturbed, scene);
}

// The number of epochs in the state that a training of 3 epochs of 3 steps has saved at its second to last step, if the
// clock advances by `step` at each step.
int EpochsSavedBeforeTheEnd(absl::Duration step, const std::string& key, const TrainingScene& scene) {
  ActionContext context = scene.Context(key);
  int steps = 0, epochs = 0;
  context.now = [&] { return steps * step; };
  context.poll = [&] {
    if (++steps == 8) epochs = LoadTrainingState(context.store.PartialPath(key), key)->summary.epoch_size();
    return false;
  };
  EXPECT_THAT(Train(scene.Action(), context), IsOk());
  return epochs;
}

TEST(Train, SavesItsStateAfterTheFirstEpochAndThenEveryThirtySeconds) {
  const TrainingScene scene;
  EXPECT_EQ(EpochsSavedBeforeTheEnd(absl::Seconds(9), Key("fast"), scene), 1);  // 27 seconds an epoch
  EXPECT_EQ(EpochsSavedBeforeTheEnd(absl::Seconds(10), Key("slow"), scene), 2);
}

TEST(Train, ACorruptStateIsNotUsed) {
  const TrainingScene scene;
  const TrainAction action = scene.Action();
  const TrainSummary undisturbed = Trained(action, scene);
  for (const bool truncated : {false, true}) {
    const std::string key = Key(absl::StrCat("damaged ", truncated));
    TrainUntil(5, action, scene.Context(key));
    ActionContext context = scene.Context(key);
    const std::string partial = context.store.PartialPath(key);
    std::string bytes = ReadFile(partial).value();
    if (truncated) {
      bytes.resize(bytes.size() - 1);
    } else {
      bytes.back() = static_cast<char>(bytes.back() ^ 1);
    }
    ASSERT_THAT(WriteFileAtomically(partial, bytes), IsOk());
    int steps = 0;
    context.poll = [&] { return ++steps < 0; };
    ASSERT_THAT(Train(action, context, MeasureEpoch), IsOk());
    EXPECT_EQ(steps, 9);  // from the start
    ExpectSameTraining(key, undisturbed, scene);
  }
}

// A rung of a search with halving is stopped within an epoch, and so is the training that continues it.
TEST(Train, ARungAndItsContinuationMayBeStoppedWithinAnEpoch) {
  const TrainingScene scene;
  const TrainAction whole = scene.Action();
  const TrainSummary undisturbed = Trained(whole, scene);
  TrainAction rung = whole;
  rung.mutable_training()->set_stop_after_epochs(1);
  TrainUntil(2, rung, scene.Context(Key("rung")));
  ASSERT_THAT(Train(rung, scene.Context(Key("rung"))), IsOk());
  ActionContext context = scene.Context(Key("rest"));
  context.continued_key = Key("rung");
  int steps = 0;
  context.poll = [&] { return ++steps == 2; };
  EXPECT_THAT(Train(whole, context, MeasureEpoch),
              StatusIs(absl::StatusCode::kCancelled, testing::HasSubstr("after step 5 of 9")));
  ASSERT_THAT(Train(whole, context, MeasureEpoch), IsOk());
  EXPECT_EQ(steps, 2 + 4);
  ExpectSameTraining(Key("rest"), undisturbed, scene);
}

// The initial weights of a fine-tuning don't replace the weights in its own state.
TEST(Train, AFineTuningGoesOnFromItsOwnState) {
  const TrainingScene scene;
  const TrainAction action = scene.Action();
  TrainAction first = action;
  first.set_seed(1);
  Trained(first, scene);
  const auto context = [&](const std::string& key) {
    ActionContext context = scene.Context(key);
    ActionInput* start = context.inputs.Add();
    start->set_role(ActionInput::START);
    start->set_key(KeyOf(first));
    return context;
  };
  const std::string key = KeyOf(action);
  ASSERT_THAT(Train(action, context(key)), IsOk());
  const TrainSummary undisturbed = scene.Context().store.LoadTrainSummary(key).value();
  EXPECT_EQ(InputKey(undisturbed.action(), ActionInput::START), KeyOf(first));
  TrainUntil(4, action, context(Key("stopped")));
  ASSERT_THAT(Train(action, context(Key("stopped"))), IsOk());
  ExpectSameTraining(Key("stopped"), undisturbed, scene);
}

// Stopped while the batch norms of the mean weights are measured, the training goes on from its last step.
TEST(Train, AMeanOfWeightsRepeatsAfterAStop) {
  const TrainingScene scene;
  TrainAction action = scene.Action(R"(
      model { vgg32 { width: 2 } head { linear {} } }
      loss { term { cross_entropy {} } }
      training {
        epochs: 2 batch_size: 5
        optimizer { learning_rate: 0.01 sgd {} } schedule { constant {} } swa { start: 0 }
      })");
  ASSERT_THAT(Train(action, scene.Context(Key("undisturbed")), MeasureEpoch), IsOk());
  ActionContext context = scene.Context(Key("stopped"));
  int asked = 0;
  context.poll = [&] { return ++asked > 7; };  // after 6 steps and a batch
  EXPECT_THAT(Train(action, context, MeasureEpoch), StatusIs(absl::StatusCode::kCancelled));
  context.poll = [] { return false; };
  ASSERT_THAT(Train(action, context, MeasureEpoch), IsOk());
  const TensorMap weights = WeightsOf(Key("undisturbed"), scene);
  ExpectSameState(WeightsOf(Key("stopped"), scene), weights);
  EXPECT_EQ(context.store.LoadTrainSummary(context.key)->import_note_size(), 0);

  action.mutable_training()->clear_swa();
  ASSERT_THAT(Train(action, scene.Context(Key("last")), MeasureEpoch), IsOk());
  EXPECT_FALSE(at::equal(WeightsOf(Key("last"), scene).at("head.weight"), weights.at("head.weight")));
  action.mutable_training()->mutable_swa()->set_start(0.5);
  action.mutable_training()->set_max_steps(2);
  ASSERT_THAT(Train(action, scene.Context(Key("short")), MeasureEpoch), IsOk());
  EXPECT_THAT(scene.Context().store.LoadTrainSummary(Key("short"))->import_note(),
              ::testing::ElementsAre(::testing::HasSubstr("they are not averaged, because training.max_steps ends")));
}

}  // namespace
}  // namespace openset

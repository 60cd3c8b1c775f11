#include "experiments/plan/plan.h"

#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "core/proto/proto_digest.h"
#include "core/testing/fault_rounds.h"
#include "core/testing/status_matchers.h"
#include "data/catalog.h"
#include "experiments/plan/planner.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/testing/spec_sandbox.h"

namespace openset {
namespace {

Plan MustPlan(const SpecSandbox& sandbox, const std::string& spec, const Store& store) {
  const absl::StatusOr<Experiment> experiment = sandbox.Load(spec);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  absl::StatusOr<std::vector<Trial>> trials = Expand(*experiment);
  EXPECT_TRUE(trials.ok()) << trials.status();
  return MakePlan(*trials, store,
                  [&](const Selection& selection) { return *CountSamples(selection, experiment->catalog); });
}

// Two scores of one training: the axis changes only the evaluation.
constexpr char kTwoScores[] = "axis { path: 'score' value: 'max_softmax {}' value: 'max_logit {}' }\n";

TEST(MakePlan, ActionsAreSharedByTheTrialsThatNeedThem) {
  const SpecSandbox sandbox;
  const Plan plan = MustPlan(sandbox, absl::StrCat(kMinimalSpec, kTwoScores, "seed: 1\n"), Store("/nowhere"));
  EXPECT_EQ(plan.trials.size(), 4);
  EXPECT_EQ(plan.Count(ActionKind::kTrain), 2);
  EXPECT_EQ(plan.Count(ActionKind::kInfer), 2);
  EXPECT_EQ(plan.Count(ActionKind::kEvaluate), 4);
  EXPECT_EQ(plan.CountNeeded(ActionKind::kEvaluate), 4);
  for (const Action& action : plan.actions) {
    for (const ActionId input : action.inputs) EXPECT_LT(input, action.id);
  }
  // Trials: seeds fastest. The first training has seed 0 and belongs to trials 0 and 2.
  EXPECT_EQ(plan.actions[0].kind, ActionKind::kTrain);
  EXPECT_THAT(plan.actions[0].trials, ElementsAre(0, 2));
}

TEST(MakePlan, OpennessLevelsShareTheTraining) {
  const SpecSandbox sandbox;
  const Plan plan = MustPlan(sandbox, absl::StrCat(kMinimalSpec, "unknown_classes: [1, 2]\n"), Store("/nowhere"));
  EXPECT_EQ(plan.Count(ActionKind::kTrain), 1);
  EXPECT_EQ(plan.Count(ActionKind::kInfer), 2);
}

// Scores that are fitted share one pass over the training samples.
TEST(MakePlan, FittedScoresReadTheOutputsForTheTrainingSamples) {
  const SpecSandbox sandbox;
  const Plan plan = MustPlan(
      sandbox,
      absl::StrCat(kMinimalSpec, "axis { path: 'score' value: 'temperature_scaled_softmax {}' value: 'max_logit {}' }"),
      Store("/nowhere"));
  EXPECT_EQ(plan.Count(ActionKind::kTrain), 1);
  ASSERT_EQ(plan.Count(ActionKind::kInfer), 2);
  EXPECT_EQ(plan.actions[1].work, 5 * 10);  // 3 known and 2 unknown classes of 10 test images
  EXPECT_EQ(plan.actions[2].work, 3 * 20);  // 3 classes of 20 training images
  EXPECT_THAT(plan.actions[1].inputs, ElementsAre(ActionId{0}));
  EXPECT_THAT(plan.actions[2].inputs, ElementsAre(ActionId{0}));
  EXPECT_THAT(plan.actions[3].inputs, ElementsAre(ActionId{1}, ActionId{2}));
  EXPECT_THAT(plan.actions[4].inputs, ElementsAre(ActionId{1}));
  EXPECT_THAT(plan.actions[2].trials, ElementsAre(0));
}

// Member m of seed s is seed s * members + m: seed 1 of two members shares no training with seed 0.
TEST(MakePlan, AnEnsembleReadsItsMembersCheckpoints) {
  const SpecSandbox sandbox;
  const Plan plan =
      MustPlan(sandbox, absl::StrCat(kMinimalSpec, "seed: 1 override { inference { ensemble { members: 2 } } }"),
               Store("/nowhere"));
  EXPECT_EQ(plan.Count(ActionKind::kTrain), 4);
  ASSERT_EQ(plan.Count(ActionKind::kInfer), 2);
  EXPECT_EQ(plan.RequestOf(plan.actions[0]).action().train().seed(), 0);
  EXPECT_EQ(plan.RequestOf(plan.actions[1]).action().train().seed(), 1);
  EXPECT_THAT(plan.actions[2].inputs, ElementsAre(ActionId{0}, ActionId{1}));
  EXPECT_EQ(plan.actions[2].work, 2 * 5 * 10);
  EXPECT_EQ(plan.RequestOf(plan.actions[4]).action().train().seed(), 2);
}

// A fine-tuning reads the checkpoint of the training it starts from, which belongs to another method.
TEST(MakePlan, AFineTuningReadsItsPretraining) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/methods/tuned.textproto", R"(
    name: "tuned"
    model { osrci_cnn {} head { linear {} } }
    input { size: 20 channels: 1 }
    pretraining {
      loss { term { cross_entropy {} } }
      training {
        epochs: 2
        batch_size: 10
        optimizer { learning_rate: 0.1 sgd {} }
        schedule { constant {} }
      }
    }
    loss { term { cross_entropy {} } }
    training {
      epochs: 1
      batch_size: 10
      optimizer { learning_rate: 0.01 sgd {} }
      schedule { constant {} }
    }
    inference { plain {} }
    score { max_softmax {} })");
  const Store store(sandbox.folder() + "/store");
  const std::string spec = absl::StrCat(kMinimalSpec, "method: 'tuned'");
  const Plan plan = MustPlan(sandbox, spec, store);
  EXPECT_EQ(plan.Count(ActionKind::kTrain), 2);
  EXPECT_THAT(plan.actions[0].trials, ElementsAre(0, 1));  // the training of method plain
  ASSERT_EQ(plan.actions[3].kind, ActionKind::kTrain);
  EXPECT_THAT(plan.actions[3].inputs, ElementsAre(ActionId{0}));
  EXPECT_EQ(plan.RequestOf(plan.actions[3]).action().train().training().epochs(), 1);
  EXPECT_EQ(plan.actions[3].work, 3 * 20 * 1 * 3);
  // If the fine-tuned weights are in the store, the first stage is not needed.
  std::filesystem::create_directories(store.CheckpointFolder(plan.actions[3].key));
  TrialRecord record;
  record.set_trial_id(plan.trial_id(0));
  record.mutable_trial();
  record.add_metric()->set_name("accuracy");
  ASSERT_TRUE(*store.CommitRecord(record));
  EXPECT_EQ(MustPlan(sandbox, spec, store).CountNeeded(ActionKind::kTrain), 0);
}

// 3 epochs of 3 x 20 images, and after the second and the third one the 30 known and 20 unknown test images.
TEST(MakePlan, CountsMeasurementsDuringTraining) {
  const SpecSandbox sandbox;
  const Store store(sandbox.folder() + "/store");
  const Plan plan = MustPlan(
      sandbox,
      absl::StrCat(kMinimalSpec, "override { training { epochs: 3 evaluate_every { epochs: 2 samples: TEST } } }"),
      store);
  EXPECT_EQ(plan.actions[0].work, 3 * 3 * 20 * 3 + 2 * 50);
  // Stopped after 3 of 9 epochs: it is measured after 2, and not at its end.
  const Plan stopped =
      MustPlan(sandbox,
               absl::StrCat(kMinimalSpec,
                            "override { training { epochs: 9 stop_after_epochs: 3 evaluate_every { epochs: 2 samples: "
                            "TEST } } }"),
               store);
  EXPECT_EQ(stopped.actions[0].work, 3 * 3 * 20 * 3 + 50);
}

// 3 epochs of 20 images, each twice forward and back, and a last pass for the batch norms of the mean weights.
TEST(MakePlan, CountsPassesOfSharpnessAwareAndAveragedTrainings) {
  const SpecSandbox sandbox;
  const Store store(sandbox.folder() + "/store");
  const auto work = [&](const char* fields) {
    return MustPlan(sandbox, absl::StrCat(kMinimalSpec, "override { training { epochs: 3 ", fields, " } }"), store)
        .actions[0]
        .work;
  };
  EXPECT_EQ(work(""), 3 * 3 * 20 * 3);
  EXPECT_EQ(work("optimizer { sam {} }"), 2 * 3 * 3 * 20 * 3);
  EXPECT_EQ(work("swa {}"), 3 * 3 * 20 * 3 + 3 * 20);
  EXPECT_EQ(work("swa {} stop_after_epochs: 2"), 3 * 2 * 20 * 3);
}

// Two temperatures and three epsilons on one training: one action computes all of them.
TEST(MakePlan, PerturbationsOfOneModelAreDoneTogether) {
  const SpecSandbox sandbox;
  const Plan plan = MustPlan(sandbox,
                             absl::StrCat(kMinimalSpec,
                                          "override { inference { input_perturbation {} } } "
                                          "axis { path: 'inference.input_perturbation.temperature' value: ['1', '9'] } "
                                          "axis { path: 'inference.input_perturbation.epsilon' "
                                          "value: ['0', '0.1', '0.2'] } seed: 1"),
                             Store("/nowhere"));
  EXPECT_EQ(plan.Count(ActionKind::kInfer), 2 * 6);
  int leaders = 0;
  for (const Action& action : plan.actions) {
    if (action.kind != ActionKind::kInfer || action.is_passenger()) continue;
    ++leaders;
    EXPECT_EQ(action.passengers.size(), 5);
    EXPECT_EQ(plan.RequestOf(action).passenger_size(), 5);
    for (const ActionId other : action.passengers) {
      EXPECT_EQ(plan.CarrierOf(other), action.id);
      EXPECT_EQ(plan[other].inputs, action.inputs);
    }
  }
  EXPECT_EQ(leaders, 2);  // one for each seed
}

// The keys that a plan computes from shared parts equal the digests of its actions.
void ExpectKeysOfActions(const Plan& plan) {
  for (const Action& action : plan.actions) {
    const WorkRequest request = plan.RequestOf(action);
    EXPECT_EQ(action.key, MessageDigest(request.action()));
    ASSERT_EQ(request.action().input_size(), action.inputs.size());
    for (size_t i = 0; i < action.inputs.size(); ++i) {
      EXPECT_EQ(request.action().input(static_cast<int>(i)).key(), plan[action.inputs[i]].key);
    }
  }
}

// An ensemble with two stages, external images, views, several metrics and a fitted score, and a plain method that
// shares the first stage of its first member.
TEST(MakePlan, KeysAreTheDigestsOfTheActions) {
  const SpecSandbox sandbox;
  sandbox.Write("data/tasks/task.textproto",
                "name: 'task' data_set: 'digits' split { known: [0, 1, 2] unknown: 3 } "
                "external { data_set: 'digits' class_id: 4 }");
  sandbox.Write("experiments/presets/all.textproto",
                "pretraining { loss { term { cross_entropy {} } } training { epochs: 2 batch_size: 10 "
                "optimizer { learning_rate: 0.1 sgd {} } schedule { constant {} } } } "
                "augmentation { horizontal_flip {} } augmentation { random_crop {} } "
                "training { evaluate_every { epochs: 1 samples: TEST } } "
                "open_set { external_images {} } views { augmentation { horizontal_flip {} } } "
                "loss { term { cross_entropy {} } term { outlier_exposure {} } term { jsd_consistency {} } } "
                "inference { ensemble { members: 2 } } score { temperature_scaled_softmax {} }");
  const Plan plan = MustPlan(
      sandbox, absl::StrCat(kMinimalSpec, "method: 'plain+all' seed: 1 metric { auroc {} } metric { openauc {} }"),
      Store("/nowhere"));
  EXPECT_EQ(plan.Count(ActionKind::kTrain), 8);  // seeds 0 to 3, two stages each; plain's are two of the first stages
  ExpectKeysOfActions(plan);
  EXPECT_EQ(plan.trial_id(2), TrialId(plan.trials[2]));
  EXPECT_EQ(plan.trial_id(2), TrialId(plan.trials[2].Spec()));
}

TEST(Describe, NamesTheMessagesOfAnAxis) {
  const SpecSandbox sandbox;
  const Plan plan = MustPlan(
      sandbox, absl::StrCat(kMinimalSpec, "axis { path: 'score' value: '{ energy {} }' value: 'max_logit {}' }"),
      Store("/nowhere"));
  EXPECT_EQ(Describe(plan.trials[0]), "plain on task, split 0, seed 0, score energy");
  EXPECT_EQ(Describe(plan.trials[1]), "plain on task, split 0, seed 0, score max_logit");
}

TEST(MakePlan, EstimatesWorkInImagePasses) {
  const SpecSandbox sandbox;
  const Plan plan = MustPlan(sandbox, kMinimalSpec, Store("/nowhere"));
  // 3 known classes of 20 training images, 2 epochs, 3 passes; 3 + 2 classes of 10 test images.
  EXPECT_EQ(plan.actions[0].work, 3 * 20 * 2 * 3);
  EXPECT_EQ(plan.actions[1].work, 5 * 10);
  const Plan limited =
      MustPlan(sandbox, absl::StrCat(kMinimalSpec, "override { training { max_steps: 4 } }"), Store("/nowhere"));
  EXPECT_EQ(limited.actions[0].work, 4 * 10 * 3);
}

// Also if the trials are added in different ways. OPENSET_FAULTS=long plans 100,000 trials
// (//experiments/plan:plan_benchmark measures time and memory).
TEST(MakePlan, ALargePlanIsTheSameOnEveryRun) {
  const SpecSandbox sandbox;
  std::string spec = absl::StrCat(kMinimalSpec, "axis { path: 'training.epochs'");
  const int values = Times(1000, 20);
  for (int v = 1; v <= values; ++v) absl::StrAppend(&spec, " value: '", v, "'");
  absl::StrAppend(&spec, " }");
  for (int seed = 1; seed < 100; ++seed) absl::StrAppend(&spec, " seed: ", seed);
  const auto expand = [&] { return Expand(sandbox.Load(spec).value()).value(); };
  const auto one = [](const Selection&) { return 1; };
  const Plan plan = MakePlan(expand(), Store("/nowhere"), one);
  ASSERT_EQ(plan.trials.size(), 100 * values);
  std::set<std::string> ids;
  for (size_t t = 0; t < plan.trials.size(); ++t) ids.insert(plan.trial_id(static_cast<int>(t)));
  EXPECT_EQ(ids.size(), plan.trials.size());

  Planner one_by_one(Store("/nowhere"), one);
  for (const Trial& trial : expand()) one_by_one.AddTrial(trial);
  for (const Plan& other : {MakePlan(expand(), Store("/nowhere"), one), one_by_one.TakePlan()}) {
    EXPECT_EQ(other.evaluations, plan.evaluations);
    ASSERT_EQ(other.actions.size(), plan.actions.size());
    for (size_t n = 0; n < plan.actions.size(); ++n) {
      ASSERT_EQ(other.actions[n].key, plan.actions[n].key);
      ASSERT_EQ(other.actions[n].inputs, plan.actions[n].inputs);
      ASSERT_EQ(other.actions[n].trials, plan.actions[n].trials);
    }
  }
}

TEST(MakePlan, NeedsOnlyInputsOfMissingRecords) {
  const SpecSandbox sandbox;
  const Store store(sandbox.folder() + "/store");
  const std::string spec = absl::StrCat(kMinimalSpec, kTwoScores);
  const Plan all = MustPlan(sandbox, spec, store);

  // With a checkpoint but no outputs, inference and evaluation are needed.
  std::filesystem::create_directories(store.CheckpointFolder(all.actions[0].key));
  Plan plan = MustPlan(sandbox, spec, store);
  EXPECT_EQ(plan.CountNeeded(ActionKind::kTrain), 0);
  EXPECT_EQ(plan.CountNeeded(ActionKind::kInfer), 1);

  // With a record, none of the trial's actions is needed, although its outputs are missing.
  TrialRecord record;
  record.set_trial_id(all.trial_id(0));
  record.mutable_trial();
  record.add_metric()->set_name("accuracy");
  ASSERT_TRUE(*store.CommitRecord(record));
  record.set_trial_id(all.trial_id(1));
  ASSERT_TRUE(*store.CommitRecord(record));
  std::filesystem::remove_all(store.CheckpointFolder(all.actions[0].key));
  plan = MustPlan(sandbox, spec, store);
  for (const Action& action : plan.actions) EXPECT_FALSE(action.is_needed());
}

TEST(Actions, KeysDependOnEverythingThatDeterminesTheResult) {
  const SpecSandbox sandbox;
  const TrialSpec trial = (*Expand(*sandbox.Load(kMinimalSpec)))[0].Spec();
  TrialSpec other = trial;
  other.mutable_execution()->set_threads(2);
  EXPECT_NE(TrialId(trial), TrialId(other));
  other = trial;
  other.set_seed(1);
  EXPECT_NE(TrialId(trial), TrialId(other));
  other = trial;
  other.mutable_data()->mutable_train()->set_part_digest("other files");
  EXPECT_NE(TrialId(trial), TrialId(other));
  other = trial;
  other.mutable_metric()->RemoveLast();
  EXPECT_NE(TrialId(trial), TrialId(other));
  // Changes of the test data don't change the training.
  other = trial;
  other.mutable_data()->mutable_test_known()->set_limit_per_class(1);
  EXPECT_EQ(MakeTraining(trial).train().SerializeAsString(), MakeTraining(other).train().SerializeAsString());
  EXPECT_NE(TrialId(trial), TrialId(other));
}

class SameMethodsTest : public ::testing::Test {
 protected:
  void AddTrial(const std::string& method) {
    auto named = std::make_shared<TrialMethod>();
    named->method.set_name(method);
    plan_.trials.emplace_back(std::move(named), nullptr, nullptr, 0);
  }
  void AddAction(ActionKind kind, const std::vector<int>& trials) {
    Action action;
    action.kind = kind;
    action.trials = trials;
    plan_.Add(std::move(action));
  }

  Plan plan_;
};

TEST_F(SameMethodsTest, EachSetOnce) {
  for (const char* name : {"b", "a", "c", "b", "a", "c", "c"}) AddTrial(name);
  AddAction(ActionKind::kTrain, {0, 1, 2});  // one training, scored three times
  AddAction(ActionKind::kEvaluate, {0, 1});
  AddAction(ActionKind::kEvaluate, {2});
  EXPECT_THAT(SameMethodLines(plan_), ElementsAre("2 methods are the same trial: a, b"));
  AddAction(ActionKind::kEvaluate, {3, 4});  // of another seed
  EXPECT_THAT(SameMethodLines(plan_), ElementsAre("2 methods are the same trial: a, b"));
}

TEST_F(SameMethodsTest, InSomeRuns) {
  for (const char* name : {"b", "a", "b", "a", "b", "a"}) AddTrial(name);
  AddAction(ActionKind::kEvaluate, {0, 1});
  AddAction(ActionKind::kEvaluate, {2});
  AddAction(ActionKind::kEvaluate, {3});
  AddAction(ActionKind::kEvaluate, {4, 5});
  EXPECT_THAT(SameMethodLines(plan_), ElementsAre("2 methods are the same trial in 2 of 3 runs: a, b"));
}

TEST_F(SameMethodsTest, NoneIfAllMethodsDiffer) {
  for (const char* name : {"a", "a", "b"}) AddTrial(name);
  AddAction(ActionKind::kEvaluate, {0, 1});  // two values of an axis
  AddAction(ActionKind::kEvaluate, {2});
  EXPECT_THAT(SameMethodLines(plan_), IsEmpty());
}

}  // namespace
}  // namespace openset

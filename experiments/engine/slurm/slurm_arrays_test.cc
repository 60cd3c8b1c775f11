#include "experiments/engine/slurm/slurm_arrays.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Trials of a training, an inference and an evaluation each; the training of trial t has t units of work.
Plan Trials(int count, ExecutionSpec::Device device = ExecutionSpec::CPU) {
  Plan plan;
  for (int t = 0; t < count; ++t) {
    TrialSpec trial;
    trial.mutable_execution()->set_device(device);
    trial.mutable_execution()->set_threads(2);
    plan.trials.emplace_back(trial);
    for (const ActionKind kind : {ActionKind::kTrain, ActionKind::kInfer, ActionKind::kEvaluate}) {
      Action action;
      action.kind = kind;
      action.trials = {t};
      action.state = ActionState::kNeeded;
      action.work = t;
      if (kind != ActionKind::kTrain) action.inputs = {plan.actions.back().id};
      plan.Add(action);
    }
  }
  return plan;
}

TEST(SlurmArrays, OneForEachStepAndWhatItTakesLongestFirst) {
  const Plan plan = Trials(3);
  ActionMemory memory;
  memory.set_train_mb(500);
  const std::vector<PlannedArray> arrays = ArraysOf(plan, plan.NeededActions(), memory, 1, 1000);
  ASSERT_EQ(arrays.size(), 3);
  EXPECT_THAT(arrays[0].tasks,
              ElementsAre(ElementsAre(ActionId{6}), ElementsAre(ActionId{3}), ElementsAre(ActionId{0})));
  EXPECT_THAT(arrays[1].tasks,
              ElementsAre(ElementsAre(ActionId{7}), ElementsAre(ActionId{4}), ElementsAre(ActionId{1})));
  EXPECT_THAT(arrays[0].after, IsEmpty());
  EXPECT_THAT(arrays[1].after, ElementsAre(0));
  EXPECT_THAT(arrays[2].after, ElementsAre(1));
  EXPECT_EQ(DescribeArray(arrays[0]), "train, 2 CPUs, 500 MB");
  EXPECT_EQ(DescribeArray(arrays[2]), "evaluate, 1 CPU");
  const Plan gpu = Trials(1, ExecutionSpec::CUDA);
  EXPECT_EQ(DescribeArray(ArraysOf(gpu, gpu.NeededActions(), {}, 1, 1000)[0]), "train, 1 GPU");
}

TEST(SlurmArrays, AreChunkedAndSplit) {
  // MaxArraySize 1001 allows indices to 1000.
  const Plan plan = Trials(2500);
  std::vector<ActionId> trainings;
  for (const ActionId id : plan.NeededActions()) {
    if (plan[id].kind == ActionKind::kTrain) trainings.push_back(id);
  }
  const std::vector<PlannedArray> arrays = ArraysOf(plan, trainings, {}, 1, 1000);
  ASSERT_EQ(arrays.size(), 3);
  EXPECT_EQ(arrays[0].tasks.size(), 1000);
  EXPECT_EQ(arrays[2].tasks.size(), 500);
  const std::vector<PlannedArray> chunks = ArraysOf(plan, trainings, {}, 400, 1000);
  ASSERT_EQ(chunks.size(), 1);
  ASSERT_EQ(chunks[0].tasks.size(), 7);
  EXPECT_EQ(chunks[0].tasks[6].size(), 2500 - 6 * 400);
  std::set<ActionId> covered;
  for (const PlannedArray& array : arrays) {
    for (const std::vector<ActionId>& task : array.tasks) {
      for (const ActionId id : task) EXPECT_TRUE(covered.insert(id).second);
    }
  }
  EXPECT_EQ(covered.size(), 2500);
}

TEST(SlurmArrays, WhatIsDoneIsNotWaitedForAndWhatIsElsewhereIsNamed) {
  Plan plan = Trials(2);
  plan.actions[0].state = ActionState::kStored;
  const std::vector<PlannedArray> arrays = ArraysOf(plan, {ActionId{1}, ActionId{4}}, {}, 1, 1000);
  ASSERT_EQ(arrays.size(), 1);
  EXPECT_THAT(arrays[0].other_inputs, ElementsAre(ActionId{3}));
}

TEST(SlurmArrays, WhatIsDoneTogetherIsOneActionThatAllWaitFor) {
  Plan plan = Trials(2);
  plan.actions[4].carrier = ActionId{1};
  plan.actions[4].inputs = {ActionId{0}};
  plan.actions[1].passengers = {ActionId{4}};
  const std::vector<PlannedArray> arrays =
      ArraysOf(plan, {ActionId{0}, ActionId{1}, ActionId{2}, ActionId{5}}, {}, 1, 1000);
  ASSERT_EQ(arrays.size(), 3);
  EXPECT_THAT(arrays[1].tasks, ElementsAre(ElementsAre(ActionId{1})));
  EXPECT_EQ(arrays[2].tasks.size(), 2);
  EXPECT_THAT(arrays[2].after, ElementsAre(1));
  EXPECT_THAT(arrays[2].other_inputs, IsEmpty());
}

}  // namespace
}  // namespace openset

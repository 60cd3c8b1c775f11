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
      PlanNode node;
      node.kind = kind;
      node.trials = {t};
      node.needed = true;
      node.work = t;
      if (kind != ActionKind::kTrain) node.inputs = {static_cast<int>(plan.nodes.size()) - 1};
      plan.nodes.push_back(node);
    }
  }
  return plan;
}

std::vector<int> All(const Plan& plan) {
  std::vector<int> nodes;
  for (size_t n = 0; n < plan.nodes.size(); ++n) nodes.push_back(static_cast<int>(n));
  return nodes;
}

TEST(SlurmArrays, OneForEachStepAndWhatItTakesLongestFirst) {
  const Plan plan = Trials(3);
  ActionMemory memory;
  memory.set_train_mb(500);
  const std::vector<PlannedArray> arrays = ArraysOf(plan, All(plan), memory, 1, 1000);
  ASSERT_EQ(arrays.size(), 3);
  EXPECT_THAT(arrays[0].tasks, ElementsAre(ElementsAre(6), ElementsAre(3), ElementsAre(0)));
  EXPECT_THAT(arrays[1].tasks, ElementsAre(ElementsAre(7), ElementsAre(4), ElementsAre(1)));
  EXPECT_THAT(arrays[0].after, IsEmpty());
  EXPECT_THAT(arrays[1].after, ElementsAre(0));
  EXPECT_THAT(arrays[2].after, ElementsAre(1));
  EXPECT_EQ(DescribeArray(arrays[0]), "train, 2 CPUs, 500 MB");
  EXPECT_EQ(DescribeArray(arrays[2]), "evaluate, 1 CPU");
  const Plan gpu = Trials(1, ExecutionSpec::CUDA);
  EXPECT_EQ(DescribeArray(ArraysOf(gpu, All(gpu), {}, 1, 1000)[0]), "train, 1 GPU");
}

TEST(SlurmArrays, AreChunkedAndSplit) {
  // MaxArraySize 1001 allows indices to 1000.
  const Plan plan = Trials(2500);
  std::vector<int> trainings;
  for (const int n : All(plan)) {
    if (plan.nodes[n].kind == ActionKind::kTrain) trainings.push_back(n);
  }
  const std::vector<PlannedArray> arrays = ArraysOf(plan, trainings, {}, 1, 1000);
  ASSERT_EQ(arrays.size(), 3);
  EXPECT_EQ(arrays[0].tasks.size(), 1000);
  EXPECT_EQ(arrays[2].tasks.size(), 500);
  const std::vector<PlannedArray> chunks = ArraysOf(plan, trainings, {}, 400, 1000);
  ASSERT_EQ(chunks.size(), 1);
  ASSERT_EQ(chunks[0].tasks.size(), 7);
  EXPECT_EQ(chunks[0].tasks[6].size(), 2500 - 6 * 400);
  std::set<int> covered;
  for (const PlannedArray& array : arrays) {
    for (const std::vector<int>& task : array.tasks) {
      for (const int n : task) EXPECT_TRUE(covered.insert(n).second);
    }
  }
  EXPECT_EQ(covered.size(), 2500);
}

TEST(SlurmArrays, WhatIsDoneIsNotWaitedForAndWhatIsElsewhereIsNamed) {
  Plan plan = Trials(2);
  plan.nodes[0].done = true;
  const std::vector<PlannedArray> arrays = ArraysOf(plan, {1, 4}, {}, 1, 1000);
  ASSERT_EQ(arrays.size(), 1);
  EXPECT_THAT(arrays[0].other_inputs, ElementsAre(3));
}

TEST(SlurmArrays, WhatIsDoneTogetherIsOneActionThatAllWaitFor) {
  Plan plan = Trials(2);
  plan.nodes[4].is_passenger = true;
  plan.nodes[4].inputs = {0};
  plan.nodes[1].together = {4};
  const std::vector<PlannedArray> arrays = ArraysOf(plan, {0, 1, 2, 5}, {}, 1, 1000);
  ASSERT_EQ(arrays.size(), 3);
  EXPECT_THAT(arrays[1].tasks, ElementsAre(ElementsAre(1)));
  EXPECT_EQ(arrays[2].tasks.size(), 2);
  EXPECT_THAT(arrays[2].after, ElementsAre(1));
  EXPECT_THAT(arrays[2].other_inputs, IsEmpty());
}

}  // namespace
}  // namespace openset

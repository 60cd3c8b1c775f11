#include "experiments/engine/cpus/cpu_slots.h"

#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// An engine that runs nothing.
class NoEngine : public Engine {
 public:
  const Capacity& capacity() const override { return capacity_; }
  absl::Status Start(ActionId, int, WorkRequest) override { return absl::OkStatus(); }
  std::vector<EngineEvent> Wait(int, absl::Duration) override { return {}; }
  void GiveCpus(ActionId action, int cpu_slots) override { given.emplace_back(action, cpu_slots); }
  void AskToStop(ActionId) override {}
  void Kill(ActionId) override {}
  void KillAll() override {}

  std::vector<std::pair<ActionId, int>> given;

 private:
  Capacity capacity_;
};

class CpuSlotsTest : public ::testing::Test {
 protected:
  // The action becomes ready, gets a seat of one thread and begins.
  int Begin(int id, ActionKind kind, Demand demand = {1}) {
    scheduler_.Add(ActionId{id}, demand, {}, {});
    EXPECT_TRUE(scheduler_.Next().has_value());
    return slots_.Begin(ActionId{id}, StageOf(kind), demand);
  }
  void Finish(int id) {
    slots_.End(ActionId{id});
    scheduler_.Finished(ActionId{id});
    slots_.GiveFree();
  }

  Scheduler scheduler_{{/*cpu_threads=*/4, /*gpus=*/{0}, /*shares_per_gpu=*/4}};
  NoEngine engine_;
  CpuSlots slots_{&scheduler_, &engine_};
};

TEST_F(CpuSlotsTest, ARunningInferenceGetsFreedSlots) {
  EXPECT_EQ(Begin(0, ActionKind::kTrain), 1);
  EXPECT_EQ(Begin(1, ActionKind::kTrain), 1);
  EXPECT_EQ(Begin(2, ActionKind::kInfer), 2);  // nothing else can use the fourth
  slots_.GiveFree();
  EXPECT_THAT(engine_.given, IsEmpty());
  Finish(0);
  EXPECT_THAT(engine_.given, ElementsAre(Pair(ActionId{2}, 3)));
  Finish(1);
  EXPECT_THAT(engine_.given, ElementsAre(Pair(ActionId{2}, 3), Pair(ActionId{2}, 4)));
  Finish(2);
  EXPECT_EQ(Begin(3, ActionKind::kInfer), 4);  // all are free again
}

TEST_F(CpuSlotsTest, ReadyActionsComeFirst) {
  EXPECT_EQ(Begin(0, ActionKind::kInfer), 4);
  scheduler_.Add(ActionId{1}, {1}, {}, {});
  scheduler_.Cancelled(ActionId{0});
  slots_.End(ActionId{0});
  EXPECT_EQ(scheduler_.Next()->action, ActionId{0});
  EXPECT_EQ(slots_.Begin(ActionId{0}, StageOf(ActionKind::kInfer), {1}), 1);  // the other one is ready
  slots_.GiveFree();
  EXPECT_THAT(engine_.given, IsEmpty());
  EXPECT_EQ(scheduler_.Next()->action, ActionId{1});
  EXPECT_EQ(slots_.Begin(ActionId{1}, StageOf(ActionKind::kTrain), {1}), 1);
  slots_.GiveFree();
  EXPECT_THAT(engine_.given, ElementsAre(Pair(ActionId{0}, 3)));
}

TEST_F(CpuSlotsTest, OtherActionsKeepTheirSlots) {
  EXPECT_EQ(Begin(0, ActionKind::kTrain), 1);
  EXPECT_EQ(Begin(1, ActionKind::kInfer, {2}), 2);  // with two threads: its results depend on their number
  Finish(0);
  EXPECT_THAT(engine_.given, IsEmpty());
}

TEST_F(CpuSlotsTest, ARunningEvaluationGetsFreedSlots) {
  EXPECT_EQ(Begin(0, ActionKind::kTrain, {3}), 3);
  EXPECT_EQ(Begin(1, ActionKind::kEvaluate), 1);
  Finish(0);
  EXPECT_THAT(engine_.given, ElementsAre(Pair(ActionId{1}, 4)));
}

TEST_F(CpuSlotsTest, GpuActionsGetNoMoreSlots) {
  EXPECT_EQ(Begin(0, ActionKind::kTrain, {3}), 3);
  EXPECT_EQ(Begin(1, ActionKind::kInfer, {1, 1}), 1);
  Finish(0);
  EXPECT_THAT(engine_.given, IsEmpty());
}

}  // namespace
}  // namespace openset

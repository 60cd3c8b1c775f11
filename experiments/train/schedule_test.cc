#include "experiments/train/schedule.h"

#include <cmath>

#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

ScheduleSpec Parse(const std::string& text) {
  ScheduleSpec spec;
  EXPECT_TRUE(ParseTextProto(text, "spec", &spec).ok());
  FillDefaults(&spec);
  return spec;
}

TEST(LearningRateFactor, Constant) {
  EXPECT_EQ(LearningRateFactor(Parse("constant {}"), 0), 1);
  EXPECT_EQ(LearningRateFactor(Parse("constant {}"), 1000), 1);
}

TEST(LearningRateFactor, StepsFromTheMilestoneOn) {
  const ScheduleSpec spec = Parse("step { milestone: 30 milestone: 60 milestone: 90 }");
  EXPECT_EQ(LearningRateFactor(spec, 29), 1);
  EXPECT_EQ(LearningRateFactor(spec, 30), 0.1);
  EXPECT_EQ(LearningRateFactor(spec, 59), 0.1);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 60), 0.01);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 99), 0.001);
}

TEST(LearningRateFactor, CosineRestartsAtEachCycle) {
  const ScheduleSpec spec = Parse("cosine_restarts { cycle_epochs: 4 floor: 0.2 }");
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 0), 1);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 1), 0.2 + 0.8 * (1 + std::sqrt(0.5)) / 2);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 2), 0.2 + 0.8 / 2);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 4), 1);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 7), LearningRateFactor(spec, 3));
}

TEST(LearningRateFactor, WarmupClimbsToTheCosine) {
  const ScheduleSpec spec = Parse("cosine_restarts { cycle_epochs: 8 floor: 0.1 warmup_epochs: 2 }");
  const double at_2 = 0.1 + 0.9 * (1 + std::sqrt(0.5)) / 2;
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 0), 0.1);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 1), (0.1 + at_2) / 2);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 2), at_2);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 8), 1);
}

// The values of the released schedule with its own parameters: 600 epochs, T0 = 200, floor lr/1000, 10 warm-up epochs.
TEST(LearningRateFactor, AfterEpochIsTheReleasedScheduleWithItsOffByOne) {
  const ScheduleSpec spec =
      Parse("cosine_restarts { cycle_epochs: 200 floor: 0.001 warmup_epochs: 10 stepping: AFTER_EPOCH }");
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 0), 0.001);
  EXPECT_NEAR(LearningRateFactor(spec, 10), 0.993850, 5e-7);
  EXPECT_NEAR(LearningRateFactor(spec, 5), (0.001 + 0.993850) / 2, 5e-7);
  // Epoch 11 uses the cosine at 10 once more.
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 11), LearningRateFactor(spec, 10));
  // The restarts hit epochs 201 and 401, without a new warm-up.
  EXPECT_NEAR(LearningRateFactor(spec, 200), 0.001, 1e-4);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 201), 1);
  EXPECT_NEAR(LearningRateFactor(spec, 400), 0.001, 1e-4);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 401), 1);
}

TEST(LearningRateFactor, AfterEpochWithoutWarmup) {
  const ScheduleSpec spec = Parse("cosine_restarts { cycle_epochs: 4 floor: 0.5 stepping: AFTER_EPOCH }");
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 0), 0.5);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 1), 1);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, 5), 1);
}

}  // namespace
}  // namespace openset

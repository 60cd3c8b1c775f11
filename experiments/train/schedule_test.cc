#include "experiments/train/schedule.h"

#include <cmath>

#include "core/testing/parsed.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

ScheduleSpec Parse(const std::string& text) { return ParsedWithDefaults<ScheduleSpec>(text); }

// Of the first step of an epoch.
double FactorAt(const ScheduleSpec& spec, int epoch) { return LearningRateFactor(spec, {epoch, 0, 7}); }

TEST(LearningRateFactor, Constant) {
  EXPECT_EQ(FactorAt(Parse("constant {}"), 0), 1);
  EXPECT_EQ(FactorAt(Parse("constant {}"), 1000), 1);
}

TEST(LearningRateFactor, StepsFromTheMilestoneOn) {
  const ScheduleSpec spec = Parse("step { milestone: 30 milestone: 60 milestone: 90 }");
  EXPECT_EQ(FactorAt(spec, 29), 1);
  EXPECT_EQ(FactorAt(spec, 30), 0.1);
  EXPECT_EQ(FactorAt(spec, 59), 0.1);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 60), 0.01);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 99), 0.001);
}

TEST(LearningRateFactor, CosineRestartsAtEachCycle) {
  const ScheduleSpec spec = Parse("cosine_restarts { cycle_epochs: 4 floor: 0.2 }");
  EXPECT_DOUBLE_EQ(FactorAt(spec, 0), 1);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 1), 0.2 + 0.8 * (1 + std::sqrt(0.5)) / 2);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 2), 0.2 + 0.8 / 2);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 4), 1);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 7), FactorAt(spec, 3));
}

TEST(LearningRateFactor, WarmupClimbsToTheCosine) {
  const ScheduleSpec spec = Parse("cosine_restarts { cycle_epochs: 8 floor: 0.1 warmup_epochs: 2 }");
  const double at_2 = 0.1 + 0.9 * (1 + std::sqrt(0.5)) / 2;
  EXPECT_DOUBLE_EQ(FactorAt(spec, 0), 0.1);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 1), (0.1 + at_2) / 2);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 2), at_2);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 8), 1);
}

// The values of the released schedule with its own parameters: 600 epochs, T0 = 200, floor lr/1000, 10 warm-up epochs.
TEST(LearningRateFactor, AfterEpochIsTheReleasedScheduleWithItsOffByOne) {
  const ScheduleSpec spec =
      Parse("cosine_restarts { cycle_epochs: 200 floor: 0.001 warmup_epochs: 10 stepping: AFTER_EPOCH }");
  EXPECT_DOUBLE_EQ(FactorAt(spec, 0), 0.001);
  EXPECT_NEAR(FactorAt(spec, 10), 0.993850, 5e-7);
  EXPECT_NEAR(FactorAt(spec, 5), (0.001 + 0.993850) / 2, 5e-7);
  // Epoch 11 uses the cosine at 10 once more.
  EXPECT_DOUBLE_EQ(FactorAt(spec, 11), FactorAt(spec, 10));
  // The restarts hit epochs 201 and 401, without a new warm-up.
  EXPECT_NEAR(FactorAt(spec, 200), 0.001, 1e-4);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 201), 1);
  EXPECT_NEAR(FactorAt(spec, 400), 0.001, 1e-4);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 401), 1);
}

TEST(LearningRateFactor, AfterEpochWithoutWarmup) {
  const ScheduleSpec spec = Parse("cosine_restarts { cycle_epochs: 4 floor: 0.5 stepping: AFTER_EPOCH }");
  EXPECT_DOUBLE_EQ(FactorAt(spec, 0), 0.5);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 1), 1);
  EXPECT_DOUBLE_EQ(FactorAt(spec, 5), 1);
}

TEST(LearningRateFactor, IsConstantInAnEpochUnlessItStepsEachIteration) {
  for (const char* text : {"constant {}", "step { milestone: 1 }", "cosine_restarts { cycle_epochs: 3 }",
                           "cosine_restarts { cycle_epochs: 3 stepping: AFTER_EPOCH }"}) {
    const ScheduleSpec spec = Parse(text);
    EXPECT_EQ(LearningRateFactor(spec, {2, 6, 7}), LearningRateFactor(spec, {2, 0, 7})) << text;
  }
}

TEST(LearningRateFactor, ACosineOfIterations) {
  const ScheduleSpec spec = Parse("cosine_restarts { cycle_epochs: 2 floor: 0.2 stepping: ITERATION }");
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, {0, 0, 2}), 1);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, {0, 1, 2}), 0.2 + 0.8 * (1 + std::sqrt(0.5)) / 2);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, {1, 0, 2}), 0.2 + 0.8 / 2);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, {2, 0, 2}), 1);
}

TEST(LearningRateFactor, WarmupOfIterations) {
  const ScheduleSpec spec =
      Parse("cosine_restarts { cycle_epochs: 4 floor: 0.2 warmup_epochs: 1 stepping: ITERATION }");
  const double at_1 = 0.2 + 0.8 * (1 + std::sqrt(0.5)) / 2;
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, {0, 0, 4}), 0.2);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, {0, 2, 4}), (0.2 + at_1) / 2);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, {1, 0, 4}), at_1);
}

// energy_ood's CIFAR/train.py with its 10 epochs and floor: LambdaLR is stepped before each step of the optimiser, so
// step s of N (from 0) runs at cos(pi (s + 1) / N). Its mean is 1/2 - 1/(2 N) of the way from the floor; a rate that is
// constant within an epoch would have the mean 0.55.
TEST(LearningRateFactor, BeforeIterationIsThatOfTheReleasedFineTuning) {
  const ScheduleSpec spec = Parse("cosine_restarts { cycle_epochs: 10 floor: 0.001 stepping: BEFORE_ITERATION }");
  const int64_t steps = 391;  // 50,000 images in batches of 128
  double sum = 0;
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (int64_t step = 0; step < steps; ++step) sum += LearningRateFactor(spec, {epoch, step, steps});
  }
  const double n = 10 * static_cast<double>(steps);
  EXPECT_NEAR(sum / n, 0.001 + 0.999 * (0.5 - 0.5 / n), 1e-9);
  EXPECT_NEAR(sum / n, 0.500, 5e-4);
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, {9, steps - 1, steps}), 0.001);
  const double first = 0.001 + 0.999 * 0.5 * (1 + std::cos(3.14159265358979323846 / n));
  EXPECT_DOUBLE_EQ(LearningRateFactor(spec, {0, 0, steps}), first);
  double by_epoch = 0;
  const ScheduleSpec epochs = Parse("cosine_restarts { cycle_epochs: 10 floor: 0.001 stepping: EPOCH }");
  for (int epoch = 0; epoch < 10; ++epoch) by_epoch += FactorAt(epochs, epoch) / 10;
  EXPECT_NEAR(by_epoch, 0.550, 1e-3);
}

}  // namespace
}  // namespace openset

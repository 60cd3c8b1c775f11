

#include "experiments/train/optimizer.h"

#include <cmath>

#include "core/testing/parsed.h"
#include "experiments/spec/optimizer.pb.h"
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

OptimizerSpec OptimizerParse(const std::string& text) { return ParsedWithDefaults<OptimizerSpec>(text); }

at::Tensor Rate(double value) { return MakeLearningRate(at::kCPU, value); }

at::Tensor Parameter(double value) { return at::full({2, 3}, value, at::kFloat).requires_grad_(true); }

void SetGradient(const at::Tensor& parameter, double value) {
  parameter.mutable_grad() = at::full_like(parameter.detach(), value);
}

double First(const at::Tensor& tensor) { return tensor.flatten()[0].item<double>(); }

TEST(Sgd, PlainStep) {
  const at::Tensor p = Parameter(1);
  auto optimizer = MakeOptimizer(OptimizerParse("learning_rate: 0.1 sgd {}"), {{"p", p}});
  SetGradient(p, 2);
  optimizer->Step(Rate(0.1));
  EXPECT_NEAR(First(p), 1 - 0.1 * 2, 1e-6);
  EXPECT_TRUE(optimizer->State().empty());
}

TEST(Sgd, MomentumAndWeightDecay) {
  const at::Tensor p = Parameter(1);
  auto optimizer =
      MakeOptimizer(OptimizerParse("learning_rate: 0.1 weight_decay: 0.5 sgd { momentum: 0.9 }"), {{"p", p}});
  SetGradient(p, 2);
  optimizer->Step(Rate(0.1));
  const double v1 = 2 + 0.5 * 1, p1 = 1 - 0.1 * v1;
  EXPECT_NEAR(First(p), p1, 1e-6);
  SetGradient(p, -1);
  optimizer->Step(Rate(0.2));
  const double v2 = 0.9 * v1 + (-1 + 0.5 * p1), p2 = p1 - 0.2 * v2;
  EXPECT_NEAR(First(p), p2, 1e-6);
  EXPECT_NEAR(First(optimizer->State()[0].second), v2, 1e-6);
  EXPECT_EQ(optimizer->State()[0].first, "momentum.p");
}

// The first step moves both parameters; in the second step, q has no gradient. With torch.optim.SGD and
// zero_grad(set_to_none=False), the default before PyTorch 2.0, its gradient is 0.
TEST(Sgd, ParametersWithoutAGradientCoastOnRequest) {
  for (const bool zero : {false, true}) {
    const at::Tensor p = Parameter(1), q = Parameter(1), never = Parameter(1);
    auto optimizer =
        MakeOptimizer(OptimizerParse(std::string("learning_rate: 0.1 weight_decay: 0.5 sgd { momentum: 0.9 } ") +
                                     (zero ? "missing_gradient: ZERO" : "")),
                      {{"p", p}, {"q", q}, {"never", never}});
    SetGradient(p, 2);
    SetGradient(q, 2);
    optimizer->Step(Rate(0.1));
    const double v1 = 2 + 0.5 * 1, q1 = 1 - 0.1 * v1;
    EXPECT_NEAR(First(q), q1, 1e-6);
    optimizer->ZeroGradients();
    SetGradient(p, 2);
    optimizer->Step(Rate(0.1));
    EXPECT_NEAR(First(q), zero ? q1 - 0.1 * (0.9 * v1 + 0.5 * q1) : q1, 1e-6);
    EXPECT_EQ(First(never), 1);
    // The state from which a training resumes says which parameters had a gradient.
    EXPECT_EQ(optimizer->State().size(), zero ? 4 : 3);
    const at::Tensor last = optimizer->State().back().second;
    EXPECT_EQ(last.scalar_type() == at::kBool ? last.sum().item<int64_t>() : 0, zero ? 2 : 0);
  }
}

TEST(Sgd, Nesterov) {
  const at::Tensor p = Parameter(1);
  auto optimizer = MakeOptimizer(OptimizerParse("learning_rate: 0.1 sgd { momentum: 0.9 nesterov: true }"), {{"p", p}});
  SetGradient(p, 2);
  optimizer->Step(Rate(0.1));
  const double p1 = 1 - 0.1 * (2 + 0.9 * 2);
  EXPECT_NEAR(First(p), p1, 1e-6);
  SetGradient(p, 1);
  optimizer->Step(Rate(0.1));
  const double v2 = 0.9 * 2 + 1;
  EXPECT_NEAR(First(p), p1 - 0.1 * (1 + 0.9 * v2), 1e-6);
}

TEST(Adam, TwoStepsByHand) {
  const at::Tensor p = Parameter(1);
  auto optimizer =
      MakeOptimizer(OptimizerParse("learning_rate: 0.01 adam { beta1: 0.5 beta2: 0.75 epsilon: 0.125 }"), {{"p", p}});
  SetGradient(p, 2);
  optimizer->Step(Rate(0.01));
  // m = 0.5 * 2, v = 0.25 * 4; corrected by 1 - 0.5 and 1 - 0.75: 2 and 4.
  const double p1 = 1 - 0.01 * 2 / (std::sqrt(4) + 0.125);
  EXPECT_NEAR(First(p), p1, 1e-6);
  SetGradient(p, 1);
  optimizer->Step(Rate(0.01));
  const double m = (0.5 * 1 + 0.5 * 1) / (1 - 0.25), v = (0.75 * 1 + 0.25 * 1) / (1 - 0.5625);
  EXPECT_NEAR(First(p), p1 - 0.01 * m / (std::sqrt(v) + 0.125), 1e-6);
  EXPECT_EQ(optimizer->State().size(), 3);
}

TEST(Optimizer, LeavesParametersWithoutAGradientAlone) {
  for (const char* kind : {"sgd { momentum: 0.9 }", "adam {}"}) {
    const at::Tensor p = Parameter(1), unused = Parameter(5);
    auto optimizer = MakeOptimizer(OptimizerParse(std::string("learning_rate: 0.1 weight_decay: 0.1 ") + kind),
                                   {{"p", p}, {"unused", unused}});
    SetGradient(p, 1);
    optimizer->Step(Rate(0.1));
    EXPECT_NE(First(p), 1);
    EXPECT_EQ(First(unused), 5);
    optimizer->ZeroGradients();
    EXPECT_FALSE(p.grad().defined());
    optimizer->Step(Rate(0.1));  // nothing to do
  }
}

TEST(Optimizer, ResumesFromItsState) {
  for (const char* kind : {"sgd { momentum: 0.9 }", "adam {}"}) {
    const OptimizerSpec spec = OptimizerParse(std::string("learning_rate: 0.1 ") + kind);
    const at::Tensor straight = Parameter(1), resumed = Parameter(1);
    auto first = MakeOptimizer(spec, {{"p", straight}});
    auto before = MakeOptimizer(spec, {{"p", resumed}});
    for (const at::Tensor& p : {straight, resumed}) SetGradient(p, 2);
    first->Step(Rate(0.1));
    before->Step(Rate(0.1));
    auto after = MakeOptimizer(spec, {{"p", resumed}});
    const Optimizer::NamedTensors from = before->State(), to = after->State();
    for (size_t i = 0; i < from.size(); ++i) {
      EXPECT_EQ(from[i].first, to[i].first);
      to[i].second.copy_(from[i].second);
    }
    for (const at::Tensor& p : {straight, resumed}) SetGradient(p, -1);
    first->Step(Rate(0.1));
    after->Step(Rate(0.1));
    EXPECT_TRUE(at::equal(straight, resumed)) << kind;
  }
}

// Convolution weights are in channels-last memory; their gradients have the same layout.
TEST(Optimizer, WorksOnChannelsLastParameters) {
  const at::Tensor p = at::arange(2 * 3 * 2 * 2, at::kFloat)
                           .reshape({2, 3, 2, 2})
                           .contiguous(at::MemoryFormat::ChannelsLast)
                           .requires_grad_(true);
  const at::Tensor expected = p.detach() - 0.1 * p.detach();
  auto optimizer = MakeOptimizer(OptimizerParse("learning_rate: 0.1 sgd { momentum: 0.9 }"), {{"p", p}});
  (p * p / 2).sum().backward();
  optimizer->Step(Rate(0.1));
  EXPECT_TRUE(at::allclose(p, expected));
}

}  // namespace
}  // namespace openset

#include "experiments/train/optimizer.h"

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

TEST(LearningRateFactor, WithoutRestartsTheCosineClimbsBack) {
  for (const char* stepping : {"EPOCH", "ITERATION"}) {
    const ScheduleSpec spec =
        Parse(std::string("cosine_restarts { cycle_epochs: 4 floor: 0.2 restarts: false stepping: ") + stepping + " }");
    for (const int epoch : {0, 1, 3, 4}) EXPECT_DOUBLE_EQ(FactorAt(spec, 8 - epoch), FactorAt(spec, epoch)) << epoch;
    EXPECT_DOUBLE_EQ(FactorAt(spec, 4), 0.2);
    EXPECT_DOUBLE_EQ(FactorAt(spec, 5), 0.2 + 0.8 * (1 - std::sqrt(0.5)) / 2);
  }
}

TrainingSpec Averaged(const std::string& fields) {
  return ParsedWithDefaults<TrainingSpec>("batch_size: 1 optimizer { learning_rate: 0.1 sgd {} } " + fields);
}

// The rates of FMFP's released loop (main_fmfp.py of Impression2805/FMFP) with PyTorch's CosineAnnealingLR and SWALR,
// by tools/peers/make_swa_golden.py.
TEST(LearningRate, IsThatOfFmfp) {
  const TrainingSpec fmfp = Averaged(
      "epochs: 201 schedule { cosine_restarts { cycle_epochs: 100 restarts: false } } swa { start: 0.6 factor: 0.5 }");
  EXPECT_EQ(FirstAveragedEpoch(fmfp), 120);
  for (const auto& [epoch, rate] : {std::pair{0, 0.1},
                                    {1, 0.099975328018287},
                                    {99, 0.000024671981713},
                                    {100, 0.0},
                                    {101, 0.000024671981713},
                                    {119, 0.008645971286272},
                                    {120, 0.009549150281253},
                                    {121, 0.010539053033281},
                                    {125, 0.029774575140626},
                                    {129, 0.049010097247972},
                                    {130, 0.05},
                                    {131, 0.05},
                                    {200, 0.05}}) {
    EXPECT_NEAR(LearningRate(fmfp, {epoch, 3, 7}), rate, 1e-15) << epoch;
  }
}

TEST(LearningRate, AnnealsFromTheLastStepOfTheSchedule) {
  const char* schedule = "epochs: 4 schedule { cosine_restarts { cycle_epochs: 4 stepping: ITERATION } } ";
  const TrainingSpec at_once = Averaged(std::string(schedule) + "swa { start: 0.5 anneal_epochs: 0 factor: 0.25 }");
  EXPECT_EQ(LearningRate(at_once, {3, 0, 2}), 0.1 * 0.25);
  const TrainingSpec slowly = Averaged(std::string(schedule) + "swa { start: 0.5 anneal_epochs: 2 factor: 0.25 }");
  EXPECT_DOUBLE_EQ(LearningRate(slowly, {2, 1, 2}), 0.1 * (1 + std::cos(3.14159265358979323846 * 2.5 / 4)) / 2);
  EXPECT_DOUBLE_EQ(LearningRate(slowly, {3, 1, 2}), (LearningRate(slowly, {2, 1, 2}) + 0.1 * 0.25) / 2);
}

// 0.29 * 100 is 28.999999999999996 in floating point.
TEST(FirstAveragedEpoch, IsBelowTheEpochs) {
  const auto first = [](const std::string& start, int epochs) {
    return FirstAveragedEpoch(
        Averaged("epochs: " + std::to_string(epochs) + " schedule { constant {} } swa { start: " + start + " }"));
  };
  EXPECT_EQ(first("0.29", 100), 29);
  EXPECT_EQ(first("0.75", 2), 1);
  EXPECT_EQ(first("0.99", 1), 0);
  EXPECT_EQ(first("0", 5), 0);
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

// Gradients (3, 4) and none: |g| = 5.
TEST(Sam, ClimbsAndReturns) {
  const at::Tensor p = at::full({2}, 2.0, at::kFloat).requires_grad_(true), unused = Parameter(5);
  auto optimizer =
      MakeOptimizer(OptimizerParse("learning_rate: 0.1 sgd {} sam { rho: 0.5 }"), {{"p", p}, {"unused", unused}});
  ASSERT_NE(optimizer->sam(), nullptr);
  const at::Tensor before = p.detach().clone();
  p.mutable_grad() = at::tensor({3.0f, 4.0f});
  optimizer->Climb();
  EXPECT_TRUE(at::allclose(p, at::tensor({2 + 0.5f * 3 / 5, 2 + 0.5f * 4 / 5})));
  EXPECT_EQ(First(unused), 5);
  optimizer->Return();
  EXPECT_TRUE(at::equal(p, before));
  // Nothing to climb.
  optimizer->ZeroGradients();
  optimizer->Climb();
  optimizer->Return();
  EXPECT_TRUE(at::equal(p, before));
  EXPECT_EQ(MakeOptimizer(OptimizerParse("learning_rate: 0.1 sgd {}"), {{"p", p}})->sam(), nullptr);
}

// |w| g = (6, 8), of length 10; w^2 g = (12, 16).
TEST(Sam, IsAdaptiveOnRequest) {
  const at::Tensor p = at::full({2}, -2.0, at::kFloat).requires_grad_(true);
  auto optimizer =
      MakeOptimizer(OptimizerParse("learning_rate: 0.1 sgd {} sam { rho: 0.5 adaptive: true }"), {{"p", p}});
  p.mutable_grad() = at::tensor({3.0f, 4.0f});
  optimizer->Climb();
  EXPECT_TRUE(at::allclose(p, at::tensor({-2 + 0.5f * 12 / 10, -2 + 0.5f * 16 / 10})));
}

// torch.optim.swa_utils.AveragedModel, by tools/peers/make_swa_golden.py.
TEST(WeightAverage, IsPyTorchs) {
  const at::Tensor weight = at::zeros({1, 2}, at::kFloat).requires_grad_(true);
  WeightAverage average({{"w", weight}});
  EXPECT_EQ(average.epochs(), 0);
  for (const auto& [a, b] : {std::pair{1.0f, -2.0f}, {4.0f, 0.5f}, {-3.0f, 7.0f}}) {
    {
      const c10::NoGradGuard no_grad;
      weight.copy_(at::tensor({a, b}).view({1, 2}));
    }
    average.Add();
  }
  EXPECT_EQ(average.epochs(), 3);
  const Optimizer::NamedTensors state = average.State();
  ASSERT_EQ(state.size(), 2);
  EXPECT_EQ(state[0].first, "epochs");
  EXPECT_EQ(state[1].first, "mean.w");
  average.SetWeights();
  EXPECT_TRUE(at::allclose(weight, at::tensor({0.6666666269302368f, 1.8333332538604736f}).view({1, 2}), 1e-6))
      << weight;
}

}  // namespace
}  // namespace openset

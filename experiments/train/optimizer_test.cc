#include "experiments/train/optimizer.h"

#include <cmath>

#include "core/testing/parsed.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

OptimizerSpec Parse(const std::string& text) { return ParsedWithDefaults<OptimizerSpec>(text); }

at::Tensor Rate(double value) { return MakeLearningRate(at::kCPU, value); }

at::Tensor Parameter(double value) { return at::full({2, 3}, value, at::kFloat).requires_grad_(true); }

void SetGradient(const at::Tensor& parameter, double value) {
  parameter.mutable_grad() = at::full_like(parameter.detach(), value);
}

double First(const at::Tensor& tensor) { return tensor.flatten()[0].item<double>(); }

TEST(Sgd, PlainStep) {
  const at::Tensor p = Parameter(1);
  auto optimizer = MakeOptimizer(Parse("learning_rate: 0.1 sgd {}"), {{"p", p}});
  SetGradient(p, 2);
  optimizer->Step(Rate(0.1));
  EXPECT_NEAR(First(p), 1 - 0.1 * 2, 1e-6);
  EXPECT_TRUE(optimizer->State().empty());
}

TEST(Sgd, MomentumAndWeightDecay) {
  const at::Tensor p = Parameter(1);
  auto optimizer = MakeOptimizer(Parse("learning_rate: 0.1 weight_decay: 0.5 sgd { momentum: 0.9 }"), {{"p", p}});
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
    auto optimizer = MakeOptimizer(Parse(std::string("learning_rate: 0.1 weight_decay: 0.5 sgd { momentum: 0.9 } ") +
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
  auto optimizer = MakeOptimizer(Parse("learning_rate: 0.1 sgd { momentum: 0.9 nesterov: true }"), {{"p", p}});
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
      MakeOptimizer(Parse("learning_rate: 0.01 adam { beta1: 0.5 beta2: 0.75 epsilon: 0.125 }"), {{"p", p}});
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
    auto optimizer = MakeOptimizer(Parse(std::string("learning_rate: 0.1 weight_decay: 0.1 ") + kind),
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
    const OptimizerSpec spec = Parse(std::string("learning_rate: 0.1 ") + kind);
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
  auto optimizer = MakeOptimizer(Parse("learning_rate: 0.1 sgd { momentum: 0.9 }"), {{"p", p}});
  (p * p / 2).sum().backward();
  optimizer->Step(Rate(0.1));
  EXPECT_TRUE(at::allclose(p, expected));
}

}  // namespace
}  // namespace openset

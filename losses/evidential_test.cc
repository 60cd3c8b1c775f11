#include <cmath>
#include <string>

#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

const std::string kNoKl = " kl_weight: 0 ";

// With RELU evidence alpha = (3, 1), S = 4.
LossScene OneSample() { return SceneOf(Matrix({{2, -5}}), {0}); }

TEST(Evidential, Objectives) {
  const std::string relu = "evidential { evidence: RELU" + kNoKl;
  EXPECT_NEAR(Value(relu + "objective: LOG }", OneSample()), std::log(4) - std::log(3), 1e-15);
  // digamma(n) - digamma(m) = 1/m + ... + 1/(n - 1).
  EXPECT_NEAR(Value(relu + "objective: DIGAMMA }", OneSample()), 1.0 / 3, 1e-14);
  // p = (3/4, 1/4): 2 (1/4)^2 + 2 (3/4 1/4) / 5.
  EXPECT_NEAR(Value(relu + "objective: MEAN_SQUARE }", OneSample()), 0.125 + 0.075, 1e-15);
  EXPECT_NEAR(Value(relu + "objective: CROSS_ENTROPY }", OneSample()), std::log(1 + std::exp(-7)), 1e-15);
}

TEST(Evidential, EvidenceFunctions) {
  // Label 0: log S - log alpha_0.
  EXPECT_NEAR(Value("evidential { evidence: EXPONENTIAL" + kNoKl + "}", OneSample()),
              std::log(2 + std::exp(2) + std::exp(-5)) - std::log(1 + std::exp(2)), 1e-15);
  EXPECT_NEAR(
      Value("evidential { evidence: SOFTPLUS" + kNoKl + "}", OneSample()),
      std::log(2 + std::log(1 + std::exp(2)) + std::log(1 + std::exp(-5))) - std::log(1 + std::log(1 + std::exp(2))),
      1e-15);
}

TEST(Evidential, DivergenceOfTheWrongEvidenceFromNone) {
  // alpha = (1, 1 + 4): KL(Dir(1, a) || Dir(1, 1)) = log a - (a - 1) / a. Evidence for the label doesn't matter.
  for (const double right : {-1.0, 0.0, 3.0}) {
    const LossScene scene = SceneOf(Matrix({{right, 4}}), {0});
    const std::string relu = "evidential { evidence: RELU kl_annealing_epochs: 0 ";
    EXPECT_NEAR(Value(relu + "kl_weight: 0.5 }", scene) - Value(relu + kNoKl + "}", scene),
                0.5 * (std::log(5) - 4.0 / 5), 1e-14);
  }
}

TEST(Evidential, WeighsTheDivergenceByTheEpoch) {
  LossScene scene = SceneOf(Matrix({{0, 4}}), {0});
  const auto divergence = [&](int64_t epoch, const std::string& annealing) {
    scene.epoch = epoch;
    return (Value("evidential { evidence: RELU kl_weight: 2 kl_annealing_epochs: " + annealing + "}", scene) -
            Value("evidential { evidence: RELU" + kNoKl + "}", scene)) /
           (std::log(5) - 4.0 / 5);
  };
  EXPECT_NEAR(divergence(0, "10"), 0, 1e-14);
  EXPECT_NEAR(divergence(1, "10"), 2 * 0.1, 1e-14);
  EXPECT_NEAR(divergence(5, "10"), 2 * 0.5, 1e-14);
  EXPECT_NEAR(divergence(10, "10"), 2, 1e-13);
  EXPECT_NEAR(divergence(50, "10"), 2, 1e-13);
  EXPECT_NEAR(divergence(0, "0"), 2, 1e-13);
}

TEST(Evidential, ClippedLogitsGetNoGradient) {
  // The loss is of an independent implementation in NumPy.
  LossScene scene = SceneOf(Matrix({{15, -15, 0, 2}}), {1});
  scene.known.logits.set_requires_grad(true);
  const at::Tensor value = MakeTerm("evidential { kl_annealing_epochs: 0 }")->Compute(scene.Input());
  EXPECT_NEAR(value.item<double>(), 33.19195199957474, 1e-9);
  value.backward();
  const at::Tensor gradient = scene.known.logits.grad();
  EXPECT_THAT(gradient.slice(1, 0, 2), TensorNear(at::zeros({1, 2}), 0));
  EXPECT_GT(gradient.slice(1, 2, 4).abs().min().item<double>(), 1e-6);
}

TEST(Evidential, DivergenceIsPreciseInF32) {
  // log Gamma of the sum is about 4e5 here, the divergence about 20.
  const LossScene exact = SceneOf(Matrix({{-3, 9.5, 9, 8, 7}}), {0});
  LossScene single = exact;
  single.known.logits = exact.known.logits.to(at::kFloat);
  const auto term = MakeTerm("evidential { kl_annealing_epochs: 0 }");
  EXPECT_NEAR(term->Compute(single.Input()).item<float>(), term->Compute(exact.Input()).item<double>(), 1e-4);
}

TEST(Evidential, OneClass) {
  // S = alpha_y and no wrong evidence.
  for (const char* objective : {"LOG", "DIGAMMA", "MEAN_SQUARE", "CROSS_ENTROPY"}) {
    EXPECT_EQ(Value(std::string("evidential { kl_annealing_epochs: 0 objective: ") + objective + "}",
                    SceneOf(Matrix({{1.5}}), {0})),
              0)
        << objective;
  }
}

}  // namespace
}  // namespace openset

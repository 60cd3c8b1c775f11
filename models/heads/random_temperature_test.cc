#include <cmath>
#include <memory>

#include "core/random.h"
#include "core/tensor/torch_generator.h"
#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "models/heads/head_members.h"

namespace openset {
namespace {

// Logits x_0 and -x_0, and three variances exp((x_0, 0, 0) after batch norm).
std::shared_ptr<Head> ThreeDegrees() {
  RandomTemperatureHeadSpec spec;
  spec.set_degrees(3);
  auto head = Make(spec, 1, 3);
  RandomStream random(0, "head");
  head->Initialise(&random);
  const at::NoGradGuard no_grad;
  auto parameters = head->named_parameters();
  parameters["classifier.weight"].copy_(Matrix({{1}, {-1}}));
  parameters["classifier.bias"].zero_();
  parameters["logvar_rts.0.weight"].copy_(Matrix({{1}, {0}, {0}}));
  parameters["logvar_rts.0.bias"].zero_();
  return head;
}

const at::Tensor kFeature = Matrix({{1}, {3}}).to(at::kFloat);

TEST(RandomTemperatureHead, ReturnsTheMeanVarianceInEvaluation) {
  const auto head = ThreeDegrees();
  head->eval();
  // The running statistics are still 0 and 1: batch norm divides by sqrt(1 + 1e-5).
  const auto mean = [](double x) { return (std::exp(x) + 2) / 3; };
  EXPECT_THAT(head->Forward(kFeature).logits, TensorNear(Matrix({{1, -1, mean(1)}, {3, -3, mean(3)}}), 1e-3));
}

TEST(RandomTemperatureHead, DividesByARandomTemperatureInTraining) {
  const auto head = ThreeDegrees();
  at::Generator generator = MakeGenerator(at::kCPU, 1);
  head->SetGenerator(generator);
  const at::Tensor logits = head->Forward(kFeature).logits;
  const at::Tensor noise = at::empty({2, 3}).normal_(0, 1, MakeGenerator(at::kCPU, 1));
  for (int b = 0; b < 2; ++b) {
    // 1 and 3 are -1 and 1 after batch norm.
    const double variance = std::exp(2 * b - 1);
    const auto square = [&](int k) { return std::pow(noise[b][k].item<double>(), 2); };
    const double temperature = variance * square(0) + square(1) + square(2);
    const double x = 2 * b + 1, divergence = (variance - std::log(variance) - 1) / 2 / 3;
    EXPECT_THAT(logits[b], TensorNear(at::tensor({x / temperature, -x / temperature, divergence}, at::kDouble), 1e-3));
  }
}

}  // namespace
}  // namespace openset

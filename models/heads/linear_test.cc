#include <memory>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "models/heads/head_members.h"

namespace openset {
namespace {

std::shared_ptr<Head> HeadOf(bool bias, int64_t feature_dim, int64_t outputs) {
  LinearHeadSpec spec;
  spec.set_bias(bias);
  auto head = Make(spec, feature_dim, outputs);
  RandomStream random(1, "linear_head_test");
  head->Initialise(&random);
  return head;
}

TEST(LinearHeadTest, IsWeightTimesFeaturePlusBias) {
  const auto head = HeadOf(true, 2, 3);
  auto parameters = head->named_parameters();
  ASSERT_EQ(parameters.size(), 2);
  const at::NoGradGuard no_grad;
  parameters["weight"].copy_(Matrix({{1, 2}, {3, 4}, {5, 6}}));
  parameters["bias"].copy_(at::tensor({0.5, 0.0, -1.0}));
  const at::Tensor feature = Matrix({{1, 0}, {-1, 2}}).to(at::kFloat);
  const ModelOutput output = head->Forward(feature);
  EXPECT_THAT(output.logits, TensorNear(Matrix({{1 + 0.5, 3, 5 - 1}, {-1 + 4 + 0.5, -3 + 8, -5 + 12 - 1}}), 1e-6));
  EXPECT_THAT(output.feature, TensorEq(feature));
  EXPECT_FALSE(output.distance.defined());
  EXPECT_FALSE(output.point.defined());
}

TEST(LinearHeadTest, TheBiasIsOptional) {
  const auto head = HeadOf(false, 2, 3);
  EXPECT_EQ(head->named_parameters().size(), 1);
  EXPECT_THAT(head->Forward(at::zeros({1, 2})).logits, TensorEq(at::zeros({1, 3})));
}

// (3, 4) has length 5.
TEST(LinearHeadTest, LogitsCanBeNormalised) {
  LinearHeadSpec spec;
  spec.set_bias(false);
  spec.set_normalise_logits(true);
  const auto head = Make(spec, 2, 2);
  const c10::NoGradGuard no_grad;
  head->named_parameters()["weight"].copy_(at::eye(2));
  const at::Tensor feature = Matrix({{3, 4}, {0, 0}}).to(at::kFloat);
  EXPECT_THAT(head->Forward(feature).logits, TensorNear(Matrix({{3 / 5.0001, 4 / 5.0001}, {0, 0}}), 1e-6));
}

// (3, 4) has length 5; t = 0.1.
TEST(LinearHeadTest, FeaturesCanBeNormalisedInTraining) {
  LinearHeadSpec spec;
  spec.set_bias(false);
  spec.set_feature_temperature(0.1);
  const auto head = Make(spec, 2, 2);
  const c10::NoGradGuard no_grad;
  head->named_parameters()["weight"].copy_(at::eye(2));
  const at::Tensor feature = Matrix({{3, 4}, {0, 0}}).to(at::kFloat);
  EXPECT_THAT(head->Forward(feature).logits, TensorNear(Matrix({{6, 8}, {0, 0}}), 1e-5));
  EXPECT_THAT(head->Forward(feature).feature, TensorEq(feature));
  head->eval();
  EXPECT_THAT(head->Forward(feature).logits, TensorNear(Matrix({{30, 40}, {0, 0}}), 1e-5));
  EXPECT_THAT(head->Forward(feature).feature, TensorEq(head->Forward(feature).logits));
}

// The outputs of T2FNormNet in OpenOOD's networks/t2fnorm_net.py (3c35632) with tau 0.1 and these weights
// (tools/peers/released_head_peer.py).
TEST(LinearHeadTest, NormalisesAsOpenOodsT2FNorm) {
  LinearHeadSpec spec;
  spec.set_feature_temperature(0.1);
  const auto head = Make(spec, 2, 3);
  const c10::NoGradGuard no_grad;
  auto parameters = head->named_parameters();
  parameters["weight"].copy_(Matrix({{1, 2}, {3, 4}, {5, 6}}));
  parameters["bias"].copy_(at::tensor({0.5, 0.0, -1.0}));
  const at::Tensor feature = Matrix({{0, 2}, {2, 0}, {1, 1}}).to(at::kFloat);
  EXPECT_THAT(head->Forward(feature).logits,
              TensorNear(Matrix({{20.5, 40, 59}, {10.5, 30, 49}, {21.713203436, 49.497474683, 76.781745931}}), 3e-5));
  head->eval();
  EXPECT_THAT(head->Forward(feature).logits,
              TensorNear(Matrix({{40.5, 80, 119}, {20.5, 60, 99}, {30.5, 70, 109}}), 3e-5));
}

TEST(LinearHeadTest, ItsGradientCanEndAtTheHead) {
  LinearHeadSpec spec;
  spec.set_stop_gradient(true);
  const auto head = Make(spec, 2, 3);
  const at::Tensor feature = at::ones({1, 2}).set_requires_grad(true);
  const ModelOutput output = head->Forward(feature);
  (output.logits.sum() + output.feature.sum()).backward();
  EXPECT_THAT(feature.grad(), TensorEq(at::ones({1, 2})));
  EXPECT_THAT(head->named_parameters()["weight"].grad(), TensorEq(at::ones({3, 2})));
}

// 10 outputs of 100 inputs: uniform on +-0.1. Of all seeds, 0.9^1000 = 1e-46 would leave the weights within +-0.09.
TEST(LinearHeadTest, InitialValuesAreWithinOneOverRootD) {
  const auto parameters = HeadOf(true, 100, 10)->named_parameters();
  EXPECT_LE(parameters["weight"].abs().max().item<double>(), 0.1 + 1e-7);
  EXPECT_GT(parameters["weight"].abs().max().item<double>(), 0.09);
  EXPECT_LE(parameters["bias"].abs().max().item<double>(), 0.1 + 1e-7);
}

// torch.randn for weight and bias, whatever D (OpenAUC, utils/model_utils.py:37-39). 20,200 values: their mean is
// within 5 / sqrt(20,200) = 0.036 of 0 and their variance within 5 sqrt(2 / 20,200) = 0.050 of 1, except for one seed
// in a million.
TEST(LinearHeadTest, InitialValuesCanBeStandardNormal) {
  LinearHeadSpec spec;
  spec.set_initialisation(LinearHeadSpec::STANDARD_NORMAL);
  const auto head = Make(spec, 100, 200);
  RandomStream random(1, "linear_head_test");
  head->Initialise(&random);
  const auto parameters = head->named_parameters();
  const at::Tensor values = at::cat({parameters["weight"].flatten(), parameters["bias"]}).to(at::kDouble);
  EXPECT_NEAR(values.mean().item<double>(), 0, 0.036);
  EXPECT_NEAR(values.var().item<double>(), 1, 0.050);
  EXPECT_GT(parameters["bias"].abs().max().item<double>(), 1);
}

}  // namespace
}  // namespace openset

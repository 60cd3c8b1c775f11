#include <memory>

#include "core/random.h"
#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "models/heads/head_members.h"

namespace openset {
namespace {

// Points (1, 0), (0, 2), (3, 4).
std::shared_ptr<Head> WithPoints(std::shared_ptr<Head> head) {
  const at::NoGradGuard no_grad;
  auto parameters = head->named_parameters();
  EXPECT_EQ(parameters.size(), 1);
  parameters["point"].copy_(Matrix({{1, 0}, {0, 2}, {3, 4}}));
  return head;
}

std::shared_ptr<Head> Reciprocal(bool dot_product) {
  ReciprocalPointHeadSpec spec;
  spec.set_dot_product(dot_product);
  return Make(spec, 2, 3);
}

// For features (0, 0) and (1, 2): squares 1, 4, 25 and 4, 1, 8; products 0, 0, 0 and 1, 4, 11.
const at::Tensor& Features() {
  static const auto* features = new at::Tensor(Matrix({{0, 0}, {1, 2}}).to(at::kFloat));
  return *features;
}

TEST(PointHeadTest, DistancesAreMeanSquares) {
  for (const auto& head : {Make(PrototypeHeadSpec(), 2, 3), Reciprocal(true), Reciprocal(false)}) {
    const ModelOutput output = WithPoints(head)->Forward(Features());
    EXPECT_THAT(output.distance, TensorNear(Matrix({{0.5, 2, 12.5}, {2, 0.5, 4}}), 1e-6));
    EXPECT_THAT(output.point, TensorNear(Matrix({{1, 0}, {0, 2}, {3, 4}}), 0));
    EXPECT_THAT(output.feature, TensorEq(Features()));
  }
}

TEST(PointHeadTest, PrototypesAreNearTheirClass) {
  EXPECT_THAT(WithPoints(Make(PrototypeHeadSpec(), 2, 3))->Forward(Features()).logits,
              TensorNear(Matrix({{-0.5, -2, -12.5}, {-2, -0.5, -4}}), 1e-6));
}

TEST(PointHeadTest, ReciprocalPointsAreFarFromTheirClass) {
  EXPECT_THAT(WithPoints(Reciprocal(false))->Forward(Features()).logits,
              TensorNear(Matrix({{0.5, 2, 12.5}, {2, 0.5, 4}}), 1e-6));
  EXPECT_THAT(WithPoints(Reciprocal(true))->Forward(Features()).logits,
              TensorNear(Matrix({{0.5, 2, 12.5}, {2 - 1, 0.5 - 4, 4 - 11}}), 1e-6));
}

// 10,000 draws: the standard deviation's standard error is 0.1 / sqrt(20,000); six of them fail once in 5e8 seeds.
TEST(PointHeadTest, InitialPointsHaveStandardDeviationOneTenth) {
  const auto head = Make(PrototypeHeadSpec(), 100, 100);
  RandomStream random(1, "point_head_test");
  head->Initialise(&random);
  EXPECT_NEAR(head->named_parameters()["point"].std().item<double>(), 0.1, 6 * 0.1 / 141);
}

}  // namespace
}  // namespace openset

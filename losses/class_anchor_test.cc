#include <cmath>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/testing/golden.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

TEST(ClassAnchorTerm, ComparesDistancesToTheAnchors) {
  // Anchors (4, 0) and (0, 4). The origin is 4 from both; (4, 3) is 3 from its own and sqrt(17) from the other.
  const LossScene scene = SceneOf(Matrix({{0, 0}, {4, 3}}), {1, 0});
  const double first = std::log(2) + 0.5 * 4;
  const double second = std::log(1 + std::exp(3 - std::sqrt(17))) + 0.5 * 3;
  const auto term = MakeTerm("class_anchor { anchor: 4 attraction: 0.5 }");
  EXPECT_THAT(term->Compute(scene.Input()), TensorNear(at::scalar_tensor((first + second) / 2, at::kDouble), 1e-12));
}

TEST(ClassAnchorTerm, IsLeastAtTheAnchor) {
  const auto term = MakeTerm("class_anchor {}");
  const double at_anchor = term->Compute(SceneOf(Matrix({{10, 0}}), {0}).Input()).item<double>();
  EXPECT_NEAR(at_anchor, std::log1p(std::exp(-10 * std::sqrt(2))), 1e-12);
  EXPECT_GT(term->Compute(SceneOf(Matrix({{20, 0}}), {0}).Input()).item<double>(), at_anchor);
}

TEST(ClassAnchorTerm, IsTheReleasedLoss) {
  const nlohmann::json golden = ReadGolden("released_losses.json")["class_anchor"];
  const at::Tensor logits = TensorOf(golden["logits"]).requires_grad_(true);
  const at::Tensor value = MakeTerm("class_anchor { anchor: 10 attraction: 0.1 }")
                               ->Compute(SceneOf(logits, golden["label"].get<std::vector<int64_t>>()).Input());
  EXPECT_THAT(value.detach(), TensorNear(TensorOf(golden["value"]), 1e-12));
  value.backward();
  EXPECT_THAT(logits.grad(), TensorNear(TensorOf(golden["gradient"]), 1e-12));
}

}  // namespace
}  // namespace openset

#include "losses/known/cider.h"

#include <cmath>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

// A term for two features and two classes; P(x) = x for x >= 0.
std::unique_ptr<LossTerm> Term(const std::string& text) {
  auto term = MakeCider(TermSpec("cider { projection_dim: 2 " + text + " }").cider(), {at::kCPU, 2, 2, 0});
  for (const auto& [name, parameter] : term->Parameters()) {
    parameter.set_data(parameter.dim() == 2 ? at::eye(2, at::kDouble) : at::zeros({2}, at::kDouble));
  }
  return term;
}

LossScene Scene(const at::Tensor& feature, const std::vector<int64_t>& label) {
  LossScene scene = SceneOf(at::zeros({feature.size(0), 2}, at::kDouble), label);
  scene.known.feature = feature;
  return scene;
}

TEST(CiderTerm, PullsToThePrototypesAndPushesThemApart) {
  // v = (1, 0), (0, 1), which the prototypes become: cosines 1 and 0.
  const auto term = Term("extra_views: 0 temperature: 0.5 compactness: 3");
  const double near = -std::log(std::exp(2) / (std::exp(2) + 1));
  EXPECT_THAT(term->Compute(Scene(Matrix({{2, 0}, {0, 3}}), {0, 1}).Input()),
              TensorNear(at::scalar_tensor(3 * near + 0, at::kDouble), 1e-6));
}

TEST(CiderTerm, SamplesMoveTheirPrototypeOneAfterTheOther) {
  const auto term = Term("extra_views: 1 momentum: 0.5");
  LossScene scene = Scene(Matrix({{1, 0}}), {1});
  scene.views = {scene.known};
  scene.views[0].feature = Matrix({{0, 1}});
  const at::Tensor prototype = term->State()[0].second;
  term->Compute(scene.Input());
  EXPECT_THAT(prototype, TensorEq(at::zeros({2, 2})));
  term->EndStep();
  // (1, 0), then (1, 0) / 2 + (0, 1) / 2.
  const float half = std::sqrt(0.5F);
  EXPECT_THAT(prototype, TensorNear(Matrix({{0, 0}, {half, half}}).to(at::kFloat), 1e-6));
}

// Classes of different sizes in mixed order, one of which no sample has.
TEST(CiderTerm, EachPrototypeIsMovedByItsSamplesInTheOrderOfTheBatch) {
  const std::vector<int64_t> label = {2, 0, 2, 2, 0, 2};
  const at::Tensor feature = Matrix({{1, 2}, {3, 1}, {2, 2}, {1, 5}, {0, 1}, {4, 1}});
  auto term =
      MakeCider(TermSpec("cider { projection_dim: 2 extra_views: 0 momentum: 0.9 }").cider(), {at::kCPU, 3, 2, 0});
  for (const auto& [name, parameter] : term->Parameters()) {
    parameter.set_data(parameter.dim() == 2 ? at::eye(2, at::kDouble) : at::zeros({2}, at::kDouble));
  }
  LossScene scene = SceneOf(at::zeros({6, 3}, at::kDouble), label);
  scene.known.feature = feature;
  at::Tensor expected = at::zeros({3, 2}, at::kDouble);
  for (int64_t i = 0; i < 6; ++i) {
    const at::Tensor v = feature[i] / feature[i].norm();
    const at::Tensor moved = 0.9 * expected[label[i]] + 0.1 * v;
    expected[label[i]] = moved / moved.norm();
  }
  term->Compute(scene.Input());
  term->EndStep();
  EXPECT_THAT(term->State()[0].second, TensorNear(expected.to(at::kFloat), 1e-6));
}

}  // namespace
}  // namespace openset

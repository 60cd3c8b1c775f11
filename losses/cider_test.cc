#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/loss_members.h"
#include "losses/testing/golden.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

// A term for two features and two classes; P(x) = x for x >= 0.
std::unique_ptr<LossTerm> Term(const std::string& text) {
  auto term = Make(TermSpec("cider { projection_dim: 2 " + text + " }").cider(), {at::kCPU, 2, 2, 0});
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
  auto term = Make(TermSpec("cider { projection_dim: 2 extra_views: 0 momentum: 0.9 }").cider(), {at::kCPU, 3, 2, 0});
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

// Two steps of the authors' CompLoss and DisLoss with a weight of 2, whose first sum has the factor 0.1 / 0.07.
TEST(CiderTerm, IsTheReleasedLossWithItsFactor) {
  auto term = Make(TermSpec("cider { projection_dim: 3 extra_views: 0 compactness: 2.857142857142857 }").cider(),
                   {at::kCPU, 4, 3, 0});
  for (const auto& [name, parameter] : term->Parameters()) {
    parameter.set_data(parameter.dim() == 2 ? at::eye(3, at::kDouble) : at::zeros({3}, at::kDouble));
  }
  const nlohmann::json steps = ReadGolden("released_losses.json")["cider"];
  ASSERT_EQ(steps.size(), 2);
  for (const nlohmann::json& step : steps) {
    const at::Tensor feature = TensorOf(step["feature"]).requires_grad_(true);
    LossScene scene = SceneOf(at::zeros({feature.size(0), 4}, at::kDouble), step["label"].get<std::vector<int64_t>>());
    scene.known.feature = feature;
    const at::Tensor value = term->Compute(scene.Input());
    EXPECT_THAT(value.detach(), TensorNear(TensorOf(step["value"]), 1e-5));  // prototypes are stored as f32
    value.backward();
    EXPECT_THAT(feature.grad(), TensorNear(TensorOf(step["gradient"]), 1e-5));
    term->EndStep();
  }
}

// exp(1 / 0.005) = exp(200) is above f32. The three prototypes become (1, 0), (0.6, 0.8), (0, 1), with cosines 0.6, 0
// and 0.8; of each class, exp(cosine / t) of the nearer other one is exp(40) times the farther one's or more, so that
// log mean is its logarithm - log 2.
TEST(CiderTerm, DispersesAtTemperaturesWhoseExponentialsExceedF32) {
  const LossSetting setting = {at::kCPU, 3, 2, 0};
  const auto term =
      Make(TermSpec("cider { projection_dim: 2 extra_views: 0 temperature: 0.005 compactness: 0 }").cider(), setting);
  for (const auto& [name, parameter] : term->Parameters()) {
    parameter.set_data(parameter.dim() == 2 ? at::eye(2) : at::zeros({2}));
  }
  LossScene scene = SceneOf(at::zeros({3, 3}), {0, 1, 2});
  scene.known.feature = Matrix({{2, 0}, {3, 4}, {0, 1}}).to(at::kFloat).requires_grad_(true);
  const at::Tensor value = term->Compute(scene.Input());
  EXPECT_THAT(value.detach(), TensorNear(at::scalar_tensor((0.6 + 0.8 + 0.8) / 3 / 0.005 - std::log(2.0)), 1e-4));
  value.backward();
  EXPECT_TRUE(scene.known.feature.grad().isfinite().all().item<bool>());
}

// Both ways to compute the dispersion agree, on either side of the temperature at which one takes over.
TEST(CiderTerm, TheDispersionIsContinuousInTheTemperature) {
  const auto dispersion = [](const std::string& temperature) {
    const auto term = Term("extra_views: 0 compactness: 0 temperature: " + temperature);
    return term->Compute(Scene(Matrix({{3, 4}, {1, 0}}), {0, 1}).Input());  // 0.6 / t
  };
  EXPECT_THAT(dispersion("0.025"), TensorNear(at::scalar_tensor(24, at::kDouble), 1e-9));
  EXPECT_THAT(dispersion("0.0249"), TensorNear(at::scalar_tensor(0.6 / 0.0249, at::kDouble), 1e-9));
}

TEST(CiderTerm, OneClassHasNoOtherToBePushedFrom) {
  const auto term =
      Make(TermSpec("cider { projection_dim: 2 extra_views: 0 }").cider(), {at::kCPU, /*classes=*/1, 2, 0});
  LossScene scene = SceneOf(at::zeros({2, 1}), {0, 0});
  scene.known.feature = Matrix({{1, 2}, {3, 1}}).to(at::kFloat).requires_grad_(true);
  const at::Tensor value = term->Compute(scene.Input());
  EXPECT_THAT(value.detach(), TensorEq(at::scalar_tensor(0.F)));  // nor a class to be told from
  value.backward();
  EXPECT_TRUE(scene.known.feature.grad().isfinite().all().item<bool>());
}

// A step of four samples of three classes in two views, and a term whose parameters (the first four leaves; the others
// are the features) keep away from the kink of relu.
struct GradientStep {
  explicit GradientStep(const std::string& text)
      : term(Make(TermSpec("cider { projection_dim: 2 momentum: 0.5 " + text + " }").cider(), {at::kCPU, 3, 3, 0})),
        scene(SceneOf(at::zeros({4, 3}, at::kDouble), {0, 2, 1, 0})) {
    const at::Tensor values[] = {Matrix({{.5, .2, -.1}, {.3, -.2, .4}, {-.1, .6, .2}}), at::full({3}, .1, at::kDouble),
                                 Matrix({{.9, -.4, .2}, {-.3, .5, .7}}), at::full({2}, -.2, at::kDouble)};
    for (size_t i = 0; i < 4; ++i) {
      leaves.push_back(term->Parameters()[i].second);
      leaves[i].set_data(values[i]);
    }
    scene.known.feature = Matrix({{1, 2, 4}, {3, 1, 2}, {2, 5, 1}, {1, 1, 6}}).requires_grad_(true);
    scene.views = {scene.known};
    scene.views[0].feature = Matrix({{4, 2, 1}, {2, 1, 3}, {1, 5, 2}, {6, 1, 1}}).requires_grad_(true);
    leaves.push_back(scene.known.feature);
    leaves.push_back(scene.views[0].feature);
  }

  std::vector<at::Tensor> Gradients() const {
    term->Compute(scene.Input()).backward();
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& leaf : leaves) gradients.push_back(leaf.grad());
    return gradients;
  }

  // Central differences of `value` in every element of every leaf.
  std::vector<at::Tensor> Differences(const std::function<at::Tensor()>& value) const {
    std::vector<at::Tensor> differences;
    for (const at::Tensor& leaf : leaves) {
      differences.push_back(at::zeros_like(leaf));
      const at::Tensor flat = leaf.detach().view(-1);
      for (int64_t i = 0; i < flat.numel(); ++i) {
        const double x = flat[i].item<double>();
        flat[i].fill_(x + 1e-5);
        const double above = value().item<double>();
        flat[i].fill_(x - 1e-5);
        differences.back().view(-1)[i].fill_((above - value().item<double>()) / 2e-5);
        flat[i].fill_(x);
      }
    }
    return differences;
  }

  std::unique_ptr<LossTerm> term;
  LossScene scene;
  std::vector<at::Tensor> leaves;
};

// The gradients of the dispersion flow through the updates of the prototypes.
TEST(CiderTerm, GradientsOfTheDispersion) {
  for (const std::string temperature : {"0.5", "0.02"}) {
    const GradientStep step("compactness: 0 temperature: " + temperature);
    const std::vector<at::Tensor> expected = step.Differences([&] { return step.term->Compute(step.scene.Input()); });
    const std::vector<at::Tensor> gradients = step.Gradients();
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_GT(expected[i].abs().max().item<double>(), 1e-3) << "leaf " << i;
      EXPECT_THAT(gradients[i], TensorNear(expected[i], 1e-6)) << "leaf " << i;
    }
  }
}

// Those of the first sum leave the prototypes as they are.
TEST(CiderTerm, GradientsOfTheFirstSumHoldThePrototypes) {
  const GradientStep whole("compactness: 3 temperature: 0.5"), dispersion("compactness: 0 temperature: 0.5"),
      updated("temperature: 0.5");
  updated.term->Compute(updated.scene.Input());
  updated.term->EndStep();
  const at::Tensor prototype = updated.term->State()[0].second.to(at::kDouble);  // rounded to f32
  const std::vector<at::Tensor>& x = whole.leaves;
  const at::Tensor label = at::tensor({0, 2, 1, 0, 0, 2, 1, 0}, at::kLong);
  const std::vector<at::Tensor> expected = whole.Differences([&] {
    const at::Tensor hidden = (at::cat({x[4], x[5]}).mm(x[0].t()) + x[1]).relu();
    const at::Tensor projection = hidden.mm(x[2].t()) + x[3];
    const at::Tensor v = projection / projection.square().sum(1, true).sqrt();
    const at::Tensor near = v.mm(prototype.t()) / 0.5;
    return 3 * (near.logsumexp(1) - near.gather(1, label.unsqueeze(1)).squeeze(1)).mean();
  });
  const std::vector<at::Tensor> gradients = whole.Gradients(), without = dispersion.Gradients();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_GT(expected[i].abs().max().item<double>(), 1e-3) << "leaf " << i;
    EXPECT_THAT(gradients[i] - without[i], TensorNear(expected[i], 1e-5)) << "leaf " << i;
  }
}

}  // namespace
}  // namespace openset

#include <cmath>
#include <map>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/loss_members.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

TEST(OutlierEnergyTerm, IsALogisticRegressionOfTheWeightedEnergy) {
  const auto term = Make(OutlierEnergySpec(), {at::kCPU, /*classes=*/2, 0, 0});
  const std::map<std::string, std::vector<double>> values = {
      {"energy", {2, -1}}, {"slope", {0, 1}}, {"offset", {0, 0.5}}};
  for (const auto& [name, parameter] : term->Parameters()) parameter.set_data(at::tensor(values.at(name), at::kDouble));
  LossScene scene = SceneOf(Matrix({{1, 9}}), {0});
  scene.open = OpenSetOf(Matrix({{-2, 9}, {5, 5}}));
  scene.open.weight = at::tensor({1, 0}, at::kDouble);
  // A negative weight counts as 0: E = 1 + log 2 and -2 + log 2; the outputs differ by E + 0.5.
  const auto log1pexp = [](double x) { return std::log1p(std::exp(x)); };
  const double expected = (log1pexp(-(1.5 + std::log(2))) + log1pexp(-1.5 + std::log(2))) / 2;
  EXPECT_THAT(term->Compute(scene.Input()), TensorNear(at::scalar_tensor(expected, at::kDouble), 1e-12));
  scene.open.weight = at::zeros({2}, at::kDouble);
  EXPECT_THAT(term->Compute(scene.Input()), TensorNear(at::scalar_tensor(0, at::kDouble), 0));
}

}  // namespace
}  // namespace openset

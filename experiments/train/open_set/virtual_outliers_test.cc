#include "experiments/train/open_set/virtual_outliers.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/testing/draw_open_set.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "experiments/train/open_set/open_set_members.h"

namespace openset {
namespace {

OpenSetSetting SettingOf(int64_t classes, int64_t dim) {
  OpenSetSetting setting;
  setting.classes = classes;
  setting.feature_dim = dim;
  return setting;
}

VirtualOutliersSpec SpecOf(int memory, int draws, int kept) {
  VirtualOutliersSpec spec;
  spec.set_memory(memory);
  spec.set_draws(draws);
  spec.set_kept(kept);
  return spec;
}

ModelOutput Head(const at::Tensor& feature) { return {feature, 10 * feature, {}, {}}; }

OpenSet Step(OpenSetSource* source, const at::Tensor& feature, const std::vector<int64_t>& label, RandomStream random) {
  Batch batch{{}, at::tensor(label, at::kLong), {}};
  const ModelOutput known = Head(feature);
  EXPECT_THAT(DrawOpenSet(source, &random, &batch), IsOk());
  return source->Make({batch, known, {}, nullptr, Head, nullptr});
}

TEST(VirtualOutliers, HaveWeightOnceEveryClassHasItsMemory) {
  const VirtualOutliersSpec spec = SpecOf(2, 50, 3);
  const auto source = *Make(spec, SettingOf(/*classes=*/2, /*dim=*/2));
  const RandomStream random(1, "vos");
  const OpenSet first = Step(source.get(), Matrix({{1, 1}, {0, 2}, {0, 4}}), {1, 0, 0}, random);
  EXPECT_THAT(first.weight, TensorEq(at::zeros({6}, at::kDouble)));
  // Class 0 now has (0, 4) and (0, 6), class 1 (1, 1) and (3, 1): the mean squares about the means are 1/2 and 1/2.
  const OpenSet open = Step(source.get(), Matrix({{0, 6}, {3, 1}}), {0, 1}, random);
  EXPECT_THAT(open.weight, TensorEq(at::ones({6}, at::kDouble)));
  RandomStream same = random;
  const at::Tensor far = DrawFarPoints(spec, 2, 2, &same);
  const at::Tensor mean = Matrix({{0, 5}, {2, 1}}).unsqueeze(1);
  EXPECT_THAT(open.output.feature, TensorNear((mean + std::sqrt(0.5 + 1e-4) * far).view({6, 2}), 1e-6));
  EXPECT_THAT(open.output.logits, TensorNear(10 * open.output.feature, 1e-12));
}

TEST(VirtualOutliers, StoresOnlyTheLastFeaturesOfALargeBatch) {
  const auto source = *Make(SpecOf(2, 1, 1), SettingOf(1, 1));
  Step(source.get(), Matrix({{1}, {2}, {3}, {4}, {5}}), {0, 0, 0, 0, 0}, RandomStream(1, "vos"));
  const at::Tensor memory = source->State()[0].second.slice(0, 0, 2);
  EXPECT_THAT(std::get<0>(memory.sort(0)), TensorEq(Matrix({{4}, {5}}).to(at::kFloat)));
}

// The longest of 100 vectors in 4 dimensions: P(length^2 <= s) = F(s)^100 with F(s) = 1 - exp(-s / 2) (1 + s / 2).
TEST(DrawFarPoints, HasTheLengthsOfTheFarthest) {
  RandomStream random(3, "vos");
  std::vector<double> uniform;
  at::Tensor sum = at::zeros({4}, at::kDouble);
  for (int i = 0; i < 400; ++i) {
    const at::Tensor far = DrawFarPoints(SpecOf(1, 100, 2), 1, 4, &random)[0];
    const double s = far[0].square().sum().item<double>();
    EXPECT_GE(s, far[1].square().sum().item<double>());
    uniform.push_back(std::pow(1 - std::exp(-s / 2) * (1 + s / 2), 100));
    sum += far[0] / std::sqrt(s);
  }
  // Kolmogorov and Smirnov's distance of 400 uniform numbers is above 0.1 in 1 of 1,500 cases.
  std::sort(uniform.begin(), uniform.end());
  for (int i = 0; i < 400; ++i) EXPECT_NEAR(uniform[i], (i + 0.5) / 400, 0.1);
  // Directions have no preference: the mean of 400 has a standard deviation of 1/2 / 20 for each coordinate.
  EXPECT_LT((sum / 400).abs().max().item<double>(), 6 * 0.025);
}

}  // namespace
}  // namespace openset

#include "core/tensor/testing/draw_open_set.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "experiments/train/open_set/open_set_members.h"

namespace openset {
namespace {

std::unique_ptr<OpenSetSource> MakeSource(const std::string& text) {
  return *Make(ParsedWithDefaults<FeatureMixupSpec>(text), {});
}

// A head with logits = 10 * feature.
ModelOutput Head(const at::Tensor& feature) { return {feature, 10 * feature, {}, {}}; }

OpenSet Mix(OpenSetSource* source, const at::Tensor& feature, const std::vector<int64_t>& label, RandomStream random) {
  Batch batch{{}, at::tensor(label, at::kLong), {}};
  const ModelOutput known = Head(feature);
  EXPECT_THAT(DrawOpenSet(source, &random, &batch), IsOk());
  return source->Make({batch, known, {}, nullptr, Head, nullptr});
}

// Four samples whose features identify them in every mixture of two.
const at::Tensor kFeature = Matrix({{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}});

at::Tensor Mixtures(const at::Tensor& feature, const std::vector<int64_t>& order, const at::Tensor& coefficient) {
  return coefficient * feature + (1 - coefficient) * feature.index_select(0, at::tensor(order, at::kLong));
}

TEST(FeatureMixup, MixesTheWholeBatchWithARandomOrderOfIt) {
  const OpenSet open = Mix(MakeSource("").get(), kFeature, {0, 1, 2, 3}, RandomStream(1, "mix"));
  RandomStream same(1, "mix");
  const std::vector<int64_t> order = same.Permutation(4);
  const double coefficient = same.Beta(2, 2);
  EXPECT_THAT(open.output.feature,
              TensorNear(Mixtures(kFeature, order, at::scalar_tensor(coefficient, at::kDouble)), 1e-15));
  EXPECT_THAT(open.output.logits, TensorNear(10 * open.output.feature, 0));
  EXPECT_THAT(open.slot, TensorEq(at::arange(4)));
  // A sample mixed with itself is a mixture of one class.
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(open.weight[i].item<double>(), order[i] == i ? 0 : 1);
}

TEST(FeatureMixup, DrawsTheCoefficientUntilItLiesWithinItsLimits) {
  const auto source = MakeSource("min_coefficient: 0.4 max_coefficient: 0.6");
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const OpenSet open = Mix(source.get(), kFeature, {0, 1, 2, 3}, RandomStream(seed, "mix"));
    RandomStream same(seed, "mix");
    const std::vector<int64_t> order = same.Permutation(4);
    double coefficient = same.Beta(2, 2);
    while (coefficient < 0.4 || coefficient > 0.6) coefficient = same.Beta(2, 2);
    EXPECT_THAT(open.output.feature,
                TensorNear(Mixtures(kFeature, order, at::scalar_tensor(coefficient, at::kDouble)), 1e-15));
  }
}

TEST(FeatureMixup, MixesTheSecondHalf) {
  const OpenSet open =
      Mix(MakeSource("mixed: SECOND_HALF alpha: 1").get(), kFeature, {0, 1, 2, 3}, RandomStream(3, "mix"));
  RandomStream same(3, "mix");
  const std::vector<int64_t> order = same.Permutation(2);
  const double coefficient = same.Beta(1, 1);
  EXPECT_THAT(open.output.feature,
              TensorNear(Mixtures(kFeature.slice(0, 2), order, at::scalar_tensor(coefficient, at::kDouble)), 1e-15));
  EXPECT_THAT(open.slot, TensorEq(at::tensor({0, 1}, at::kLong)));
}

TEST(FeatureMixup, OneCoefficientForEachPair) {
  const OpenSet open =
      Mix(MakeSource("one_coefficient_per_batch: false").get(), kFeature, {0, 1, 2, 3}, RandomStream(1, "mix"));
  RandomStream same(1, "mix");
  const std::vector<int64_t> order = same.Permutation(4);
  std::vector<double> coefficients(4);
  for (double& coefficient : coefficients) coefficient = same.Beta(2, 2);
  EXPECT_THAT(open.output.feature,
              TensorNear(Mixtures(kFeature, order, at::tensor(coefficients, at::kDouble).unsqueeze(1)), 1e-15));
}

TEST(FeatureMixup, MixturesOfOneClassDontCount) {
  const std::vector<int64_t> label = {0, 0, 1, 1};
  const OpenSet open = Mix(MakeSource("").get(), kFeature, label, RandomStream(1, "mix"));
  const std::vector<int64_t> order = RandomStream(1, "mix").Permutation(4);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(open.weight[i].item<double>(), label[i] == label[order[i]] ? 0 : 1);
  EXPECT_THAT(Mix(MakeSource("").get(), kFeature, {2, 2, 2, 2}, RandomStream(1, "mix")).weight,
              TensorNear(at::zeros({4}), 0));
}

TEST(FeatureMixup, BatchesThatCantBeMixed) {
  const OpenSet odd =
      Mix(MakeSource("mixed: SECOND_HALF").get(), kFeature.slice(0, 0, 3), {0, 1, 2}, RandomStream(1, "mix"));
  EXPECT_EQ(odd.output.logits.size(0), 0);
  EXPECT_EQ(odd.output.logits.size(1), 4);
  EXPECT_EQ(odd.weight.numel(), 0);
  EXPECT_EQ(odd.slot.numel(), 0);

  const OpenSet one = Mix(MakeSource("").get(), kFeature.slice(0, 0, 1), {0}, RandomStream(1, "mix"));
  EXPECT_THAT(one.weight, TensorNear(at::zeros({1}), 0));
  EXPECT_EQ(
      Mix(MakeSource("mixed: SECOND_HALF").get(), kFeature.slice(0, 0, 1), {0}, RandomStream(1, "mix")).weight.numel(),
      0);
}

TEST(FeatureMixup, GradientsFlowIntoBothParents) {
  at::Tensor feature = kFeature.clone().set_requires_grad(true);
  const OpenSet open = Mix(MakeSource("").get(), feature, {0, 1, 2, 3}, RandomStream(1, "mix"));
  open.output.feature.sum().backward();
  // Each sample is once the first parent and once the second: c + (1 - c).
  EXPECT_THAT(feature.grad(), TensorNear(at::ones({4, 4}), 1e-15));
}

}  // namespace
}  // namespace openset

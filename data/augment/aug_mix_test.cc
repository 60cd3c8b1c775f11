#include "data/augment/aug_mix.h"

#include <array>
#include <cmath>
#include <string>

#include "core/files/formats/npz.h"
#include "core/testing/parsed.h"
#include "data/augment/augmentation_members.h"
#include "data/augment/testing/pillow_golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using Op = AugMixOp;

constexpr int64_t kOne = int64_t{1} << 20;

AugMixSpec Spec() { return ParsedWithDefaults<AugMixSpec>(""); }

// tools/peers/make_aug_mix_golden.py, with Pillow 13.0.0.
TEST(ApplyAugMix, EqualsPillow) {
  const NpzArrays golden = ReadNpz("data/augment/testdata/aug_mix.npz").value();
  for (const std::string group : {"rgb32x32", "rgb20x28", "grey28x28"}) {
    SCOPED_TRACE(group);
    const auto array = [&](const std::string& name) -> const NpyArray& { return golden.at(group + "/" + name); };
    const at::Tensor images = ToTensor(array("image"));
    const auto coefficient = ToInt64(array("coefficient")).value(), op = ToInt64(array("op")).value(),
               negative = ToInt64(array("negative")).value();
    const auto level = ToDouble(array("level")).value();
    const int64_t width = array("op").shape[1], depth = array("op").shape[2];
    std::vector<AugMixDraw> draws(images.size(0), AugMixDraw(width));
    for (size_t k = 0; k < op.size(); ++k) {
      AugMixChain& chain = draws[k / depth / width][k / depth % width];
      chain.coefficient = coefficient[k / depth];
      if (op[k] < 0) continue;
      const auto step = static_cast<Op>(op[k]);
      const double value = AugMixValue(step, level[k], images.size(2), images.size(3));
      const bool has_sign = step == Op::kRotate || step >= Op::kShearX;
      chain.steps.push_back({step, has_sign && negative[k] != 0 ? -value : value});
    }
    EXPECT_TRUE(at::equal(ApplyAugMix(images, draws), ToTensor(array("expected"))));
  }
}

// The authors' code: (1 - m) x + m sum_i w_i chain_i(x) in f32 (augmix_loader.py), here of chains of one known
// operation.
TEST(ApplyAugMix, LeavesMixturesUnroundedWhereItIsAskedTo) {
  const at::Tensor images = Images(1);
  const double m = 0.625, w = 0.3;
  AugMixDraw draw(2);
  draw[0].coefficient = static_cast<int64_t>(m * w * kOne);
  draw[0].steps.push_back({Op::kPosterize, 1});
  draw[1].coefficient = static_cast<int64_t>(m * (1 - w) * kOne);
  draw[1].steps.push_back({Op::kSolarize, 128});
  const at::Tensor x = images.to(at::kDouble);
  const at::Tensor posterized = images.bitwise_and(0x80).to(at::kDouble);
  const at::Tensor solarized = at::where(images.lt(128), x, 255 - x);
  const at::Tensor expected = (1 - m) * x + m * (w * posterized + (1 - w) * solarized);
  const at::Tensor mixture = ApplyAugMix(images, {draw}, /*rounded=*/false);
  EXPECT_EQ(mixture.scalar_type(), at::kFloat);
  EXPECT_LT((mixture.to(at::kDouble) - expected).abs().max().item<double>(), 1e-3);
  EXPECT_GT((mixture - mixture.round()).abs().max().item<double>(), 0.3);
  EXPECT_TRUE(at::equal((mixture + 0.5).floor().to(at::kByte), ApplyAugMix(images, {draw})));
}

TEST(AugMixValue, AtLevelsOfTheReleasedCode) {
  EXPECT_EQ(AugMixValue(Op::kPosterize, 2.4, 32, 32), 4);  // 4 - whole(0.96)
  EXPECT_EQ(AugMixValue(Op::kPosterize, 2.5, 32, 32), 3);
  EXPECT_EQ(AugMixValue(Op::kPosterize, 10, 32, 32), 1);
  EXPECT_EQ(AugMixValue(Op::kSolarize, 3, 32, 32), 180);  // 256 - whole(76.8)
  EXPECT_EQ(AugMixValue(Op::kRotate, 2.9, 32, 32), 8);
  EXPECT_DOUBLE_EQ(AugMixValue(Op::kShearX, 3, 32, 32), 0.09);
  EXPECT_EQ(AugMixValue(Op::kTranslateX, 3, 32, 32), 3);    // 3.2
  EXPECT_EQ(AugMixValue(Op::kTranslateX, 3, 32, 64), 6);    // 6.4
  EXPECT_EQ(AugMixValue(Op::kTranslateY, 3, 224, 32), 22);  // 22.4
  EXPECT_EQ(AugMixValue(Op::kEqualize, 3, 32, 32), 0);
}

TEST(ApplyAugMix, IsTheWeightedMeanRoundedOnce) {
  // Solarize at 0 inverts: 0.75 * 100 + 0.25 * 155 = 113.75; 101: 114.25; 102: 114.75 (76.5 + 38.25).
  const at::Tensor images = at::tensor({100, 101, 102}).to(at::kByte).view({1, 1, 1, 3});
  const AugMixDraw draw = {{kOne / 4, {{Op::kSolarize, 0}}}};
  EXPECT_TRUE(at::equal(ApplyAugMix(images, {draw}), at::tensor({114, 114, 115}).to(at::kByte).view({1, 1, 1, 3})));
  // Halves up: (100 + 155) / 2 = 127.5.
  const AugMixDraw half = {{kOne / 2, {{Op::kSolarize, 0}}}};
  EXPECT_EQ(ApplyAugMix(images, {half}).flatten()[0].item<int>(), 128);
}

TEST(ApplyAugMix, AnImageThatTheOperationsLeaveAloneStaysItself) {
  // The weights sum to exactly one, whatever was drawn.
  const at::Tensor images = Images(200);
  RandomStream random(1, "aug_mix");
  std::vector<AugMixDraw> draws = DrawAugMix(Spec(), 200, 32, 32, &random);
  for (AugMixDraw& draw : draws) {
    for (AugMixChain& chain : draw) {
      for (AugMixStep& step : chain.steps) step = {Op::kRotate, 0};
    }
  }
  EXPECT_TRUE(at::equal(ApplyAugMix(images, draws), images));
}

TEST(ApplyAugMix, ALoneChainOfFullWeightIsItsOutcome) {
  const at::Tensor images = Images(2);
  const AugMixDraw invert = {{kOne, {{Op::kSolarize, 0}}}};
  const AugMixDraw twice = {{kOne, {{Op::kSolarize, 0}, {Op::kSolarize, 0}}}};
  EXPECT_TRUE(at::equal(ApplyAugMix(images, {invert, twice}), at::stack({255 - images[0], images[1]})));
}

TEST(ApplyAugMix, AnImagesResultIsThatOfItsDrawAlone) {
  for (const int64_t channels : {1, 3}) {
    const at::Tensor images = Images(60, channels);
    RandomStream random(2, "aug_mix");
    const std::vector<AugMixDraw> draws = DrawAugMix(Spec(), 60, 32, 32, &random);
    const at::Tensor result = ApplyAugMix(images, draws);
    EXPECT_TRUE(result.is_contiguous());
    for (int64_t i = 0; i < 60; ++i) {
      ASSERT_TRUE(at::equal(ApplyAugMix(images.slice(0, i, i + 1), {draws[i]}), result.slice(0, i, i + 1))) << i;
    }
    EXPECT_TRUE(at::equal(images, Images(60, channels)));  // as it was
  }
}

TEST(ApplyAugMix, NoImages) { EXPECT_EQ(ApplyAugMix(Images(0), {}).sizes(), at::IntArrayRef({0, 3, 32, 32})); }

TEST(ApplyAugMixDeathTest, WantsDrawsThatFit) {
  EXPECT_DEATH(ApplyAugMix(Images(2), {{}}), "one draw per image");
  EXPECT_DEATH(ApplyAugMix(Images(2), {AugMixDraw(2), AugMixDraw(1)}), "as many chains for each image");
  EXPECT_DEATH(ApplyAugMix(Images(1), {{{kOne, {}}, {1, {}}}}), "sum to at most");
}

TEST(DrawAugMix, HasTheWidthDepthAndSeverityOfItsSpec) {
  AugMixSpec spec = Spec();
  spec.set_width(5);
  spec.set_depth(4);
  spec.set_severity(1);
  RandomStream random(3, "aug_mix");
  for (const AugMixDraw& draw : DrawAugMix(spec, 500, 32, 32, &random)) {
    ASSERT_EQ(draw.size(), 5);
    int64_t sum = 0;
    for (const AugMixChain& chain : draw) {
      sum += chain.coefficient;
      EXPECT_GE(chain.coefficient, 0);
      ASSERT_EQ(chain.steps.size(), 4);
      for (const AugMixStep& step : chain.steps) {
        const double strongest = AugMixValue(step.op, 1, 32, 32);
        if (step.op == Op::kPosterize || step.op == Op::kSolarize) {
          EXPECT_GE(step.value, strongest);
        } else {
          EXPECT_LE(std::abs(step.value), strongest);
        }
      }
    }
    EXPECT_LE(sum, kOne);
  }
}

TEST(DrawAugMix, DrawsAsItsDistributionsSay) {
  // n = 20,000 images of 3 chains. With alpha 1: m uniform, mean 1/2, deviation of the mean sqrt(1/12 / n) = 0.0020;
  // w_1 = the first of three, mean 1/3, deviation sqrt(1/18 / n) = 0.0017 (m is the sum of the coefficients, w_1 the
  // first one's share). Depths and operations of all chains: depth 1 of 60,000, mean 20,000, deviation 115; each
  // operation of about 120,000, mean 1/9 of them, deviation 109. Negative rotations of about 13,333: half, deviation
  // 58. 6 deviations have a chance of 2e-9 each, together 3e-8.
  constexpr int kImages = 20000;
  RandomStream random(4, "aug_mix");
  double m_sum = 0, first_sum = 0;
  std::array<int, 4> depths = {};
  std::array<int, 9> ops = {};
  int steps = 0, negative = 0;
  for (const AugMixDraw& draw : DrawAugMix(Spec(), kImages, 300, 300, &random)) {
    int64_t sum = 0;
    for (const AugMixChain& chain : draw) {
      sum += chain.coefficient;
      ++depths.at(chain.steps.size());
      for (const AugMixStep& step : chain.steps) {
        ++steps;
        ++ops[static_cast<int>(step.op)];
        negative += step.op == Op::kShearX && step.value < 0;
      }
    }
    m_sum += static_cast<double>(sum) / kOne;
    first_sum += static_cast<double>(draw[0].coefficient) / static_cast<double>(std::max<int64_t>(sum, 1));
  }
  EXPECT_NEAR(m_sum / kImages, 0.5, 6 * 0.0020);
  EXPECT_NEAR(first_sum / kImages, 1.0 / 3, 6 * 0.0017);
  EXPECT_EQ(depths[0], 0);
  for (int depth = 1; depth <= 3; ++depth) EXPECT_NEAR(depths[depth], 20000, 6 * 115) << depth;
  for (int op = 0; op < 9; ++op) EXPECT_NEAR(ops[op], steps / 9.0, 6 * 109) << op;
  const int shears = ops[static_cast<int>(Op::kShearX)];
  EXPECT_NEAR(negative, shears / 2.0, 6 * 58);
}

// Records are reproducible only as long as this order stays.
TEST(DrawAugMix, TakesWeightsThenTheMixtureThenTheChains) {
  RandomStream random(5, "aug_mix"), same(5, "aug_mix");
  for (const AugMixDraw& draw : DrawAugMix(Spec(), 100, 20, 30, &random)) {
    std::array<double, 3> weight = {};
    for (double& w : weight) w = same.Gamma(1);
    const double m = same.Beta(1, 1);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(draw[i].coefficient, m * weight[i] / (weight[0] + weight[1] + weight[2]) * kOne, 1);
      ASSERT_EQ(draw[i].steps.size(), 1 + same.Below(3));
      for (const AugMixStep& step : draw[i].steps) {
        ASSERT_EQ(static_cast<int>(step.op), same.Below(9));
        double value = 0;
        if (step.op != Op::kAutoContrast && step.op != Op::kEqualize) {
          value = AugMixValue(step.op, same.Uniform(0.1, 3), 20, 30);
          if (step.op != Op::kPosterize && step.op != Op::kSolarize && same.Below(2) == 1) value = -value;
        }
        EXPECT_EQ(step.value, value);
      }
    }
  }
}

TEST(AugMix, ABatchIsItsPartsInOrder) {
  const at::Tensor images = Images(40);
  const auto augmentation = Make(Spec(), /*input_size=*/0);
  RandomStream whole(6, "aug_mix"), parts(6, "aug_mix"), other(7, "aug_mix");
  const at::Tensor first = augmentation->Apply(images.slice(0, 0, 15), &parts);
  const at::Tensor second = augmentation->Apply(images.slice(0, 15, 40), &parts);
  const at::Tensor result = augmentation->Apply(images, &whole);
  EXPECT_TRUE(at::equal(result, at::cat({first, second})));
  EXPECT_FALSE(at::equal(result, augmentation->Apply(images, &other)));
}

TEST(AugMix, IsMoreSevereAtAHigherSeverity) {
  // The mean change of a pixel. Operations and coefficients are the same draws of the stream; levels grow with
  // severity.
  const at::Tensor images = Images(300);
  const auto change = [&](double severity) {
    AugMixSpec spec = Spec();
    spec.set_severity(severity);
    RandomStream random(8, "aug_mix");
    const at::Tensor mixed = Make(spec, /*input_size=*/0)->Apply(images, &random);
    return (mixed.to(at::kDouble) - images.to(at::kDouble)).abs().mean().item<double>();
  };
  EXPECT_LT(change(1), change(3));
  EXPECT_LT(change(3), change(9));
}

TEST(AugMix, SpecHasLimits) {
  AugMixSpec spec;
  spec.set_width(0);
  spec.set_depth(-1);
  spec.set_severity(11);
  spec.set_alpha(0);
  EXPECT_EQ(FindProblems(spec).size(), 4);
  EXPECT_TRUE(FindProblems(Spec()).empty());
}

}  // namespace
}  // namespace openset

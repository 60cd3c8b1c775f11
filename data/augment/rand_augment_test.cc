#include "data/augment/rand_augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include "data/augment/augmentation_members.h"
#include "data/augment/testing/pillow_golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using Op = RandAugmentOp;

constexpr Op kEnhancements[] = {Op::kColor, Op::kContrast, Op::kBrightness, Op::kSharpness};
constexpr Op kSigned[] = {Op::kRotate, Op::kShearX, Op::kShearY, Op::kTranslateX, Op::kTranslateY};

RandAugmentSpec Spec(int ops, double magnitude, RandAugmentSpec::OpList list = RandAugmentSpec::ALL_16) {
  RandAugmentSpec spec;
  spec.set_ops(ops);
  spec.set_magnitude(magnitude);
  spec.set_op_list(list);
  return spec;
}

TEST(RandAugmentOps, DigitsAreNeitherRotatedNorTranslated) {
  const auto& all = RandAugmentOps(RandAugmentSpec::ALL_16);
  const auto& digits = RandAugmentOps(RandAugmentSpec::DIGITS_13);
  std::set<Op> expected(all.begin(), all.end());
  EXPECT_EQ(expected.size(), 16);
  for (const Op op : {Op::kRotate, Op::kTranslateX, Op::kTranslateY}) expected.erase(op);
  EXPECT_EQ(std::set<Op>(digits.begin(), digits.end()), expected);
  EXPECT_EQ(digits.size(), 13);
}

TEST(RandAugmentValue, GoesFromTheRangesLowToItsHighEnd) {
  const struct {
    Op op;
    double low, high;
  } kRanges[] = {{Op::kRotate, 0, 30},        {Op::kPosterize, 1, 4},     {Op::kSolarize, 0, 256},
                 {Op::kSolarizeAdd, 0, 110},  {Op::kColor, 0.1, 1.9},     {Op::kContrast, 0.1, 1.9},
                 {Op::kBrightness, 0.1, 1.9}, {Op::kSharpness, 0.1, 1.9}, {Op::kShearX, 0, 0.3},
                 {Op::kShearY, 0, 0.3},       {Op::kCutout, 0, 40},       {Op::kTranslateX, 0, 100},
                 {Op::kTranslateY, 0, 100}};
  for (const auto& range : kRanges) {
    EXPECT_DOUBLE_EQ(RandAugmentValue(range.op, 0), range.low);
    EXPECT_DOUBLE_EQ(RandAugmentValue(range.op, 30), range.high);
  }
}

TEST(RandAugmentValue, SmallMagnitudesPosterizeAndSolarizeStrongly) {
  // 6 / 30 = 0.2: 0.2 * 4 = 0.8 bits, so 1; a threshold of 0.2 * 256 = 51.2; 0.2 * 100 = 20 pixels of 32.
  EXPECT_EQ(RandAugmentValue(Op::kPosterize, 6), 1);
  EXPECT_DOUBLE_EQ(RandAugmentValue(Op::kSolarize, 6), 51.2);
  EXPECT_DOUBLE_EQ(RandAugmentValue(Op::kTranslateX, 6), 20);
  EXPECT_EQ(RandAugmentValue(Op::kPosterize, 0), 1);
  EXPECT_EQ(RandAugmentValue(Op::kPosterize, 18), 2);  // 2.4
}

TEST(ApplyRandAugment, AtMagnitude6) {
  const at::Tensor images = Images(3);
  std::vector<RandAugmentDraw> draws;
  for (const Op op : {Op::kPosterize, Op::kSolarize, Op::kTranslateX}) draws.push_back({op, RandAugmentValue(op, 6)});
  const at::Tensor result = ApplyRandAugment(images, draws);
  EXPECT_TRUE(at::equal(result[0], (images[0] >= 128).to(at::kByte) * 128));
  EXPECT_TRUE(at::equal(result[1], at::where(images[1] <= 51, images[1], 255 - images[1])));
  EXPECT_TRUE(at::equal(result[2].slice(2, 0, 12), images[2].slice(2, 20, 32)));
  EXPECT_EQ(result[2].slice(2, 12, 32).count_nonzero().item<int64_t>(), 0);
}

TEST(ApplyRandAugment, AtMagnitude15EnhancementsLeaveTheImage) {
  std::vector<RandAugmentDraw> draws;
  for (const Op op : kEnhancements) draws.push_back({op, RandAugmentValue(op, 15)});
  EXPECT_TRUE(at::equal(ApplyRandAugment(Images(4), draws), Images(4)));
}

// One image at a time, one operation at a time, over all operations, both lists and grey images.
TEST(ApplyRandAugment, AnImagesResultIsThatOfItsDrawsAlone) {
  constexpr int64_t kImages = 100;
  for (const int64_t channels : {1, 3}) {
    for (const int ops : {1, 3}) {
      const at::Tensor images = Images(kImages, channels);
      RandomStream random(4, "rand_augment");
      const auto draws = DrawRandAugment(Spec(ops, 9), kImages, 32, 32, &random);
      ASSERT_EQ(draws.size(), kImages * ops);
      const at::Tensor result = ApplyRandAugment(images, draws);
      ASSERT_EQ(result.sizes(), images.sizes());
      EXPECT_TRUE(result.is_contiguous());
      for (int64_t i = 0; i < kImages; ++i) {
        at::Tensor alone = images.slice(0, i, i + 1);
        for (int k = 0; k < ops; ++k) alone = ApplyRandAugment(alone, {draws[i * ops + k]});
        EXPECT_TRUE(at::equal(result.slice(0, i, i + 1), alone)) << i;
      }
    }
  }
}

TEST(ApplyRandAugment, AppliesTheDrawsInOrder) {
  // Halve and then invert: 255 - 50 = 205. Invert and then halve: 155 / 2 = 77.5.
  const at::Tensor image = at::full({1, 1, 1, 1}, 100, at::kByte);
  EXPECT_EQ(ApplyRandAugment(image, {{Op::kBrightness, 0.5}, {Op::kInvert}}).item<int>(), 205);
  EXPECT_EQ(ApplyRandAugment(image, {{Op::kInvert}, {Op::kBrightness, 0.5}}).item<int>(), 77);
}

TEST(ApplyRandAugment, LeavesItsInputAsItWas) {
  const at::Tensor images = Images(16);
  std::vector<RandAugmentDraw> draws;
  for (const Op op : RandAugmentOps(RandAugmentSpec::ALL_16)) draws.push_back({op, RandAugmentValue(op, 20), 9, 9});
  ApplyRandAugment(images, draws);
  EXPECT_TRUE(at::equal(images, Images(16)));
}

TEST(ApplyRandAugment, ConstantImagesStayConstantUnderColourOperations) {
  const at::Tensor constant = at::tensor({200, 17, 90}).to(at::kByte).view({1, 3, 1, 1}).repeat({1, 1, 8, 8});
  for (const Op op : {Op::kAutoContrast, Op::kEqualize, Op::kInvert, Op::kPosterize, Op::kSolarize, Op::kSolarizeAdd,
                      Op::kColor, Op::kContrast, Op::kBrightness, Op::kSharpness}) {
    const at::Tensor result = ApplyRandAugment(constant, {{op, RandAugmentValue(op, 9)}});
    EXPECT_TRUE(at::equal(result, result.slice(2, 0, 1).slice(3, 0, 1).expand_as(result))) << static_cast<int>(op);
  }
}

TEST(ApplyRandAugmentDeathTest, WantsAsManyDrawsForEachImage) {
  EXPECT_DEATH(ApplyRandAugment(Images(2), {{Op::kInvert}}), "as many operations for each image");
}

TEST(DrawRandAugment, DrawsEachOperationAndSignEquallyOften) {
  // n = 160,000 draws. Each operation: mean n / 16 = 10,000, deviation sqrt(n * 1/16 * 15/16) = 96.8. Negative signs of
  // an operation, of about 10,000: mean half of them, deviation sqrt(10,000 / 4) = 50. 6 deviations have a chance of
  // 2e-9 each, together 4e-8.
  RandomStream random(5, "rand_augment");
  std::array<int, 16> drawn = {};
  std::array<int, 16> negative = {};
  for (const RandAugmentDraw& draw : DrawRandAugment(Spec(2, 9), 80000, 32, 32, &random)) {
    ++drawn[static_cast<int>(draw.op)];
    negative[static_cast<int>(draw.op)] += draw.value < 0;
    EXPECT_DOUBLE_EQ(std::abs(draw.value), RandAugmentValue(draw.op, 9));
  }
  std::array<bool, 16> has_sign = {};
  for (const Op op : kSigned) has_sign[static_cast<int>(op)] = true;
  for (int op = 0; op < 16; ++op) {
    EXPECT_NEAR(drawn[op], 10000, 6 * 96.8) << op;
    EXPECT_NEAR(negative[op], has_sign[op] ? drawn[op] / 2 : 0, has_sign[op] ? 6 * 50 : 0) << op;
  }
}

TEST(DrawRandAugment, DigitsDrawTheirOperationsEquallyOften) {
  // n = 130,000: mean 10,000, deviation sqrt(n * 1/13 * 12/13) = 96.1; 6 deviations, 13 times: 3e-8.
  RandomStream random(6, "rand_augment");
  std::array<int, 16> drawn = {};
  const auto draws = DrawRandAugment(Spec(1, 9, RandAugmentSpec::DIGITS_13), 130000, 32, 32, &random);
  for (const RandAugmentDraw& draw : draws) ++drawn[static_cast<int>(draw.op)];
  for (const Op op : RandAugmentOps(RandAugmentSpec::ALL_16)) {
    const bool absent = op == Op::kRotate || op == Op::kTranslateX || op == Op::kTranslateY;
    EXPECT_NEAR(drawn[static_cast<int>(op)], absent ? 0 : 10000, absent ? 0 : 6 * 96.1) << static_cast<int>(op);
  }
}

// Records are reproducible only as long as this order stays.
TEST(DrawRandAugment, TakesTheOperationThenItsSignOrCentre) {
  RandomStream random(10, "rand_augment");
  RandomStream same(10, "rand_augment");
  for (const RandAugmentDraw& draw : DrawRandAugment(Spec(3, 9), 100, 20, 30, &random)) {
    const Op op = RandAugmentOps(RandAugmentSpec::ALL_16)[same.Below(16)];
    ASSERT_EQ(draw.op, op);
    const bool has_sign = std::find(std::begin(kSigned), std::end(kSigned), op) != std::end(kSigned);
    const bool negative = has_sign && same.Below(2) == 1;
    EXPECT_EQ(draw.value, (negative ? -1 : 1) * RandAugmentValue(op, 9));
    if (op != Op::kCutout) continue;
    EXPECT_EQ(draw.centre_x, same.Uniform(30, 1));
    EXPECT_EQ(draw.centre_y, same.Uniform(20, 1));
  }
}

TEST(DrawRandAugment, CutoutCentresAreUniform) {
  // About 160,000 / 16 = 10,000 centres, x in (1, 21], y in (1, 11], in 10 bins: mean 1,000, deviation
  // sqrt(10,000 * 0.1 * 0.9) = 30; with the number of centres itself (deviation 97, 10 per bin) still within 6 * 32;
  // 20 bins: 4e-8.
  RandomStream random(7, "rand_augment");
  std::array<int, 10> x_bins = {};
  std::array<int, 10> y_bins = {};
  for (const RandAugmentDraw& draw : DrawRandAugment(Spec(1, 9), 160000, 11, 21, &random)) {
    if (draw.op != Op::kCutout) continue;
    ASSERT_GT(draw.centre_x, 1);
    ASSERT_LE(draw.centre_x, 21);
    ASSERT_GT(draw.centre_y, 1);
    ASSERT_LE(draw.centre_y, 11);
    ++x_bins[std::min(9, static_cast<int>((draw.centre_x - 1) / 2))];
    ++y_bins[std::min(9, static_cast<int>(draw.centre_y - 1))];
  }
  for (const int count : x_bins) EXPECT_NEAR(count, 1000, 6 * 32);
  for (const int count : y_bins) EXPECT_NEAR(count, 1000, 6 * 32);
}

TEST(RandAugment, ABatchIsItsPartsInOrder) {
  const at::Tensor images = Images(60);
  const auto augmentation = Make(Spec(2, 12), /*input_size=*/0);
  RandomStream whole(8, "rand_augment");
  RandomStream parts(8, "rand_augment");
  const at::Tensor first = augmentation->Apply(images.slice(0, 0, 25), &parts);
  const at::Tensor second = augmentation->Apply(images.slice(0, 25, 60), &parts);
  EXPECT_TRUE(at::equal(augmentation->Apply(images, &whole), at::cat({first, second})));
}

TEST(RandAugment, AppliesItsDraws) {
  const at::Tensor images = Images(40);
  RandomStream random(9, "rand_augment");
  RandomStream same(9, "rand_augment");
  EXPECT_TRUE(at::equal(Make(Spec(2, 12), /*input_size=*/0)->Apply(images, &random),
                        ApplyRandAugment(images, DrawRandAugment(Spec(2, 12), 40, 32, 32, &same))));
}

}  // namespace
}  // namespace openset

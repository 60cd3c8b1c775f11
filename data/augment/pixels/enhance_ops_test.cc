#include "data/augment/pixels/make_pixel_op.h"
#include "data/augment/testing/apply_each.h"
#include "data/augment/testing/pillow_golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using Operation = at::Tensor (*)(const at::Tensor&, absl::Span<const double>);

at::Tensor EnhanceColor(const at::Tensor& images, absl::Span<const double> factors) {
  return ApplyEach(images, factors, openset::EnhanceColor);
}

at::Tensor EnhanceContrast(const at::Tensor& images, absl::Span<const double> factors) {
  return ApplyEach(images, factors, openset::EnhanceContrast);
}

at::Tensor EnhanceBrightness(const at::Tensor& images, absl::Span<const double> factors) {
  return ApplyEach(images, factors, openset::EnhanceBrightness);
}

at::Tensor EnhanceSharpness(const at::Tensor& images, absl::Span<const double> factors) {
  return ApplyEach(images, factors, openset::EnhanceSharpness);
}

struct Case {
  const char* name;
  Operation apply;
};

constexpr Case kCases[] = {{"color", EnhanceColor},
                           {"contrast", EnhanceContrast},
                           {"brightness", EnhanceBrightness},
                           {"sharpness", EnhanceSharpness}};

at::Tensor Bytes(std::initializer_list<int> values, at::IntArrayRef shape) {
  return at::tensor(std::vector<int>(values)).to(at::kByte).view(shape);
}

TEST(EnhanceOps, EqualPillow) {
  for (const Case& c : kCases) {
    ExpectEqualsPillow(c.name, [&](const at::Tensor& images, const PillowParameters& parameters) {
      return c.apply(images, parameters[0]);
    });
  }
}

TEST(EnhanceOps, AtFactorOneTheImageStays) {
  const at::Tensor images = at::arange(2 * 3 * 4 * 5, at::kByte).mul(37).view({2, 3, 4, 5});
  for (const Case& c : kCases) EXPECT_TRUE(at::equal(c.apply(images, {1, 1}), images)) << c.name;
}

TEST(EnhanceOps, EachImageHasItsOwnFactor) {
  const at::Tensor images = at::arange(2 * 3 * 4 * 5, at::kByte).mul(37).view({2, 3, 4, 5});
  for (const Case& c : kCases) {
    const at::Tensor both = c.apply(images, {0.3, 1.7});
    EXPECT_TRUE(at::equal(both.slice(0, 0, 1), c.apply(images.slice(0, 0, 1), {0.3}))) << c.name;
    EXPECT_TRUE(at::equal(both.slice(0, 1, 2), c.apply(images.slice(0, 1, 2), {1.7}))) << c.name;
  }
}

TEST(EnhanceColor, BlendsWithTheGreyImage) {
  // Grey: (19595 * 100 + 38470 * 200 + 7471 * 50 + 32768) / 65536 = 153.5, rounded down; 153 + 0.5 * (100 - 153) =
  // 126.5, 153 + 0.5 * 47 = 176.5, 153 + 0.5 * -103 = 101.5.
  const at::Tensor image = Bytes({100, 200, 50}, {1, 3, 1, 1});
  EXPECT_TRUE(at::equal(EnhanceColor(image, {0}), Bytes({153, 153, 153}, {1, 3, 1, 1})));
  EXPECT_TRUE(at::equal(EnhanceColor(image, {0.5}), Bytes({126, 176, 101}, {1, 3, 1, 1})));
}

TEST(EnhanceColor, LeavesGreyImages) {
  const at::Tensor grey = Bytes({0, 100, 255}, {1, 1, 1, 3});
  EXPECT_TRUE(at::equal(EnhanceColor(grey, {1.9}), grey));
  EXPECT_TRUE(at::equal(EnhanceColor(grey.repeat({1, 3, 1, 1}), {1.9}), grey.repeat({1, 3, 1, 1})));
}

TEST(EnhanceContrast, BlendsWithTheMean) {
  // The mean of 0, 10, 20, 100 is 32.5, rounded up to 33: 33 + 1.5 * (p - 33), clamped, rounded down.
  EXPECT_TRUE(
      at::equal(EnhanceContrast(Bytes({0, 10, 20, 100}, {1, 1, 2, 2}), {1.5}), Bytes({0, 0, 13, 133}, {1, 1, 2, 2})));
}

TEST(EnhanceBrightness, Multiplies) {
  EXPECT_TRUE(
      at::equal(EnhanceBrightness(Bytes({0, 15, 200}, {1, 1, 1, 3}), {1.5}), Bytes({0, 22, 255}, {1, 1, 1, 3})));
}

TEST(EnhanceSharpness, SmoothsTheInnerPixelsOnly) {
  // Middle: (1 + 2 + 3 + 4 + 6 + 7 + 8 + 9 + 5 * 70) / 13 = 30.
  EXPECT_TRUE(at::equal(EnhanceSharpness(Bytes({1, 2, 3, 4, 70, 6, 7, 8, 9}, {1, 1, 3, 3}), {0}),
                        Bytes({1, 2, 3, 4, 30, 6, 7, 8, 9}, {1, 1, 3, 3})));
}

TEST(EnhanceSharpness, LeavesImagesWithoutInnerPixels) {
  const at::Tensor image = Bytes({1, 2, 3, 4, 70, 6}, {1, 1, 2, 3});
  EXPECT_TRUE(at::equal(EnhanceSharpness(image, {0}), image));
  EXPECT_TRUE(at::equal(EnhanceSharpness(image.view({1, 1, 3, 2}), {0}), image.view({1, 1, 3, 2})));
}

TEST(EnhanceOps, LeaveConstantGreyImagesConstant) {
  const at::Tensor constant = at::full({1, 3, 5, 5}, 77, at::kByte);
  for (const Case& c : kCases) {
    const at::Tensor result = c.apply(constant, {0.7});
    EXPECT_TRUE(at::equal(result, result.slice(2, 0, 1).slice(3, 0, 1).expand_as(result))) << c.name;
  }
  EXPECT_TRUE(at::equal(EnhanceContrast(constant, {0.7}), constant));
  EXPECT_TRUE(at::equal(EnhanceSharpness(constant, {0.7}), constant));
}

}  // namespace
}  // namespace openset

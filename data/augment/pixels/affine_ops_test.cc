#include <string>

#include "data/augment/pixels/make_pixel_op.h"
#include "data/augment/testing/apply_each.h"
#include "data/augment/testing/pillow_golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using Operation = at::Tensor (*)(const at::Tensor&, absl::Span<const double>, Interpolation);

at::Tensor Rotate(const at::Tensor& images, absl::Span<const double> degrees,
                  Interpolation interpolation = Interpolation::kNearest) {
  const PixelSize size = {images.size(2), images.size(3)};
  return ApplyEach(images, degrees, [&](double angle) { return openset::Rotate(angle, size, interpolation); });
}

at::Tensor ShearX(const at::Tensor& images, absl::Span<const double> shears,
                  Interpolation interpolation = Interpolation::kNearest) {
  return ApplyEach(images, shears, [&](double shear) { return openset::ShearX(shear, interpolation); });
}

at::Tensor ShearY(const at::Tensor& images, absl::Span<const double> shears,
                  Interpolation interpolation = Interpolation::kNearest) {
  return ApplyEach(images, shears, [&](double shear) { return openset::ShearY(shear, interpolation); });
}

at::Tensor TranslateX(const at::Tensor& images, absl::Span<const double> shifts,
                      Interpolation interpolation = Interpolation::kNearest) {
  return ApplyEach(images, shifts, [&](double shift) { return openset::TranslateX(shift, interpolation); });
}

at::Tensor TranslateY(const at::Tensor& images, absl::Span<const double> shifts,
                      Interpolation interpolation = Interpolation::kNearest) {
  return ApplyEach(images, shifts, [&](double shift) { return openset::TranslateY(shift, interpolation); });
}

struct Case {
  const char* name;
  Operation apply;
};

constexpr Case kCases[] = {{"rotate", Rotate},
                           {"shear_x", ShearX},
                           {"shear_y", ShearY},
                           {"translate_x", TranslateX},
                           {"translate_y", TranslateY}};

// [1, 1, 3, 3]
at::Tensor NineValues() { return at::arange(1, 10, at::kByte).view({1, 1, 3, 3}); }

at::Tensor Image3x3(std::initializer_list<int> values) {
  return at::tensor(std::vector<int>(values)).to(at::kByte).view({1, 1, 3, 3});
}

TEST(AffineOps, EqualPillow) {
  for (const Case& c : kCases) {
    ExpectEqualsPillow(c.name, [&](const at::Tensor& images, const PillowParameters& parameters) {
      return c.apply(images, parameters[0], Interpolation::kNearest);
    });
  }
}

TEST(AffineOps, BilinearEqualPillow) {
  for (const Case& c : kCases) {
    ExpectEqualsPillow(std::string(c.name) + "_bilinear",
                       [&](const at::Tensor& images, const PillowParameters& parameters) {
                         return c.apply(images, parameters[0], Interpolation::kBilinear);
                       });
  }
}

TEST(AffineOps, AtZeroTheImageStays) {
  const at::Tensor images = at::arange(2 * 3 * 4 * 5, at::kByte).view({2, 3, 4, 5});
  for (const Case& c : kCases) {
    EXPECT_TRUE(at::equal(c.apply(images, {0, 0}, Interpolation::kNearest), images)) << c.name;
    EXPECT_TRUE(at::equal(c.apply(images, {0, 0}, Interpolation::kBilinear), images)) << c.name;
  }
}

TEST(Rotate, IsCounterclockwise) {
  EXPECT_TRUE(at::equal(Rotate(NineValues(), {90}), Image3x3({3, 6, 9,  //
                                                              2, 5, 8,  //
                                                              1, 4, 7})));
  EXPECT_TRUE(at::equal(Rotate(NineValues(), {-270}), Rotate(NineValues(), {90})));
  EXPECT_TRUE(at::equal(Rotate(NineValues(), {180}), NineValues().flip({2, 3})));
}

TEST(Rotate, FillsWithZeros) {
  // At 45 degrees the corners come from beyond the edges: the half diagonal 1.5 * sqrt(2) = 2.12 is more than 1.5.
  const at::Tensor corners = Rotate(at::full({1, 1, 9, 9}, 255, at::kByte), {45}).squeeze();
  EXPECT_EQ(corners[0][0].item<int>(), 0);
  EXPECT_EQ(corners[8][8].item<int>(), 0);
  EXPECT_EQ(corners[4][4].item<int>(), 255);
}

TEST(Translate, PositiveShiftsMoveLeftAndUp) {
  EXPECT_TRUE(at::equal(TranslateX(NineValues(), {1}), Image3x3({2, 3, 0,  //
                                                                 5, 6, 0,  //
                                                                 8, 9, 0})));
  EXPECT_TRUE(at::equal(TranslateY(NineValues(), {-2}), Image3x3({0, 0, 0,  //
                                                                  0, 0, 0,  //
                                                                  1, 2, 3})));
}

TEST(Translate, BeyondTheImageIsAllZeros) {
  EXPECT_EQ(TranslateX(NineValues(), {3}).count_nonzero().item<int64_t>(), 0);
  EXPECT_EQ(TranslateY(NineValues(), {-100}).count_nonzero().item<int64_t>(), 0);
}

TEST(Translate, BilinearIsBetweenNeighbours) {
  // 1 + 0.5 * (2 - 1) = 1.5 and so on, rounded down; the place of the last column, 2.5 + 0.5 = 3, is outside.
  EXPECT_TRUE(at::equal(TranslateX(NineValues(), {0.5}, Interpolation::kBilinear), Image3x3({1, 2, 0,  //
                                                                                             4, 5, 0,  //
                                                                                             7, 8, 0})));
}

TEST(Shear, MovesEachRowByItsOwnShift) {
  // Row centres lie at 0.5, 1.5 and 2.5: shifts of 0.4, 1.2 and 2, and pixel centres at halves are rounded down.
  EXPECT_TRUE(at::equal(ShearX(NineValues(), {0.8}), Image3x3({1, 2, 3,  //
                                                               5, 6, 0,  //
                                                               9, 0, 0})));
  EXPECT_TRUE(at::equal(ShearY(NineValues(), {0.8}), ShearX(NineValues().transpose(2, 3), {0.8}).transpose(2, 3)));
}

TEST(AffineOps, EachImageHasItsOwnValue) {
  const at::Tensor images = at::arange(2 * 3 * 4 * 5, at::kByte).view({2, 3, 4, 5});
  for (const Case& c : kCases) {
    for (const Interpolation interpolation : {Interpolation::kNearest, Interpolation::kBilinear}) {
      const at::Tensor both = c.apply(images, {0.3, -1.7}, interpolation);
      EXPECT_TRUE(at::equal(both.slice(0, 0, 1), c.apply(images.slice(0, 0, 1), {0.3}, interpolation))) << c.name;
      EXPECT_TRUE(at::equal(both.slice(0, 1, 2), c.apply(images.slice(0, 1, 2), {-1.7}, interpolation))) << c.name;
    }
  }
}

}  // namespace
}  // namespace openset

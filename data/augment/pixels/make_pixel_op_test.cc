#include "data/augment/pixels/make_pixel_op.h"

#include <string>
#include <vector>

#include "data/augment/testing/apply_each.h"
#include "data/augment/testing/pillow_golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

at::Tensor Invert(const at::Tensor& images) { return ApplyToAll(images, openset::Invert()); }

at::Tensor Posterize(const at::Tensor& images, absl::Span<const double> bits) {
  return ApplyEach(images, bits, openset::Posterize);
}

at::Tensor Solarize(const at::Tensor& images, absl::Span<const double> thresholds) {
  return ApplyEach(images, thresholds, openset::Solarize);
}

at::Tensor SolarizeAdd(const at::Tensor& images, absl::Span<const double> additions) {
  return ApplyEach(images, additions, openset::SolarizeAdd);
}

// Images in which each of the 256 values occurs.
at::Tensor AllValues(int64_t images) {
  return at::arange(256, at::kByte).view({1, 1, 16, 16}).repeat({images, 1, 1, 1});
}

TEST(PointOps, EqualPillow) {
  ExpectEqualsPillow("invert", [](const at::Tensor& images, const PillowParameters&) { return Invert(images); });
  ExpectEqualsPillow("posterize",
                     [](const at::Tensor& images, const PillowParameters& p) { return Posterize(images, p[0]); });
  ExpectEqualsPillow("solarize",
                     [](const at::Tensor& images, const PillowParameters& p) { return Solarize(images, p[0]); });
  ExpectEqualsPillow("solarize_add",
                     [](const at::Tensor& images, const PillowParameters& p) { return SolarizeAdd(images, p[0]); });
}

TEST(Invert, TwiceIsTheImage) { EXPECT_TRUE(at::equal(Invert(Invert(AllValues(1))), AllValues(1))); }

TEST(Posterize, KeepsTheHighestBits) {
  EXPECT_TRUE(at::equal(Posterize(Row({0, 1, 127, 128, 255}), {1}), Row({0, 0, 0, 128, 128})));
  EXPECT_TRUE(at::equal(Posterize(Row({0, 31, 32, 100, 255}), {3}), Row({0, 0, 32, 96, 224})));
  EXPECT_TRUE(at::equal(Posterize(AllValues(1), {8}), AllValues(1)));
}

TEST(Posterize, TwiceIsOnce) {
  const std::vector<double> bits = {1, 2, 3, 4, 5, 6, 7, 8};
  const at::Tensor once = Posterize(AllValues(8), bits);
  EXPECT_TRUE(at::equal(Posterize(once, bits), once));
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(std::get<0>(at::_unique(once[i])).numel(), int64_t{1} << (i + 1));
}

TEST(Solarize, InvertsFromTheThresholdOn) {
  EXPECT_TRUE(at::equal(Solarize(Row({50, 51, 52, 255}), {51}), Row({50, 204, 203, 0})));
  EXPECT_TRUE(at::equal(Solarize(Row({50, 51, 52, 255}), {51.2}), Row({50, 51, 203, 0})));
}

TEST(Solarize, ReachesFromInversionToTheImage) {
  EXPECT_TRUE(
      at::equal(Solarize(AllValues(3), {0, 256, 300}), at::cat({Invert(AllValues(1)), AllValues(1), AllValues(1)})));
}

TEST(SolarizeAdd, AddsThenSolarizesAt128) {
  // 117 + 10 = 127 stays; 118 + 10 = 128 -> 127; 250 + 10 -> 255 -> 0.
  EXPECT_TRUE(at::equal(SolarizeAdd(Row({0, 117, 118, 250}), {10}), Row({10, 127, 127, 0})));
  EXPECT_TRUE(at::equal(SolarizeAdd(AllValues(1), {0}), Solarize(AllValues(1), {128})));
}

TEST(PointOps, EachImageHasItsOwnValue) {
  for (const auto& op : {Posterize, Solarize, SolarizeAdd}) {
    const at::Tensor both = op(AllValues(2), {2, 7});
    EXPECT_TRUE(at::equal(both.slice(0, 0, 1), op(AllValues(1), {2})));
    EXPECT_TRUE(at::equal(both.slice(0, 1, 2), op(AllValues(1), {7})));
  }
}

TEST(PosterizeDeathTest, WantsOneToEightBits) {
  EXPECT_DEATH(Posterize(AllValues(1), {0}), "0 bits");
  EXPECT_DEATH(Posterize(AllValues(1), {9}), "9 bits");
}

at::Tensor AutoContrast(const at::Tensor& images) { return ApplyToAll(images, openset::AutoContrast()); }

at::Tensor Equalize(const at::Tensor& images) { return ApplyToAll(images, openset::Equalize()); }

TEST(HistogramOps, EqualPillow) {
  ExpectEqualsPillow("autocontrast",
                     [](const at::Tensor& images, const PillowParameters&) { return AutoContrast(images); });
  ExpectEqualsPillow("equalize", [](const at::Tensor& images, const PillowParameters&) { return Equalize(images); });
}

TEST(AutoContrast, MapsTheEndsToTheEnds) {
  // (60 - 50) * 255 / 200 = 12.75, rounded down.
  EXPECT_TRUE(at::equal(AutoContrast(Row({50, 60, 250})), Row({0, 12, 255})));
}

TEST(AutoContrast, IsDoneAtTheSecondTime) {
  const at::Tensor once = AutoContrast(Row({50, 60, 77, 78, 150}));
  EXPECT_TRUE(at::equal(AutoContrast(once), once));
}

TEST(Equalize, SpreadsTheValuesEvenly) {
  // 255 pixels of 10, 510 of 20, 255 of 30: step = (1020 - 255) / 255 = 3; floor((1 + 0) / 3) = 0,
  // floor((1 + 255) / 3) = 85, floor((1 + 765) / 3) = 255.
  const auto pixels = [](int value, int64_t count) { return at::full({1, 1, 1, count}, value, at::kByte); };
  EXPECT_TRUE(at::equal(Equalize(at::cat({pixels(30, 255), pixels(10, 255), pixels(20, 510)}, 3)),
                        at::cat({pixels(255, 255), pixels(0, 255), pixels(85, 510)}, 3)));
}

TEST(Equalize, LeavesEvenlySpreadValues) {
  const at::Tensor even = at::arange(256, at::kByte).repeat(4).view({1, 1, 32, 32});
  EXPECT_TRUE(at::equal(Equalize(even), even));
}

TEST(Equalize, CutsOffAtTheHighestValue) {
  // step = (800 - 400) / 255 = 1, and floor((0 + 400) / 1) is more than 255.
  const at::Tensor halves =
      at::cat({at::full({1, 1, 1, 400}, 7, at::kByte), at::full({1, 1, 1, 400}, 9, at::kByte)}, 3);
  EXPECT_TRUE(at::equal(Equalize(halves), (halves == 9).to(at::kByte) * 255));
}

TEST(Equalize, LeavesImagesOfFewPixels) {
  // step = (4 - 1) / 255 = 0.
  EXPECT_TRUE(at::equal(Equalize(Row({1, 2, 3, 200})), Row({1, 2, 3, 200})));
}

TEST(HistogramOps, LeaveConstantChannels) {
  const at::Tensor constant = at::tensor({0, 99, 255}).to(at::kByte).view({1, 3, 1, 1}).repeat({1, 1, 32, 32});
  EXPECT_TRUE(at::equal(AutoContrast(constant), constant));
  EXPECT_TRUE(at::equal(Equalize(constant), constant));
}

TEST(HistogramOps, TreatEachChannelOfEachImageAlone) {
  const at::Tensor images = (at::arange(2 * 3 * 20 * 20, at::kInt) * 7 % 201).to(at::kByte).view({2, 3, 20, 20}) +
                            at::arange(6, at::kByte).view({2, 3, 1, 1}) * 9;
  for (const auto& op : {AutoContrast, Equalize}) {
    const at::Tensor together = op(images);
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t c = 0; c < 3; ++c) {
        EXPECT_TRUE(at::equal(together.slice(0, b, b + 1).slice(1, c, c + 1),
                              op(images.slice(0, b, b + 1).slice(1, c, c + 1).contiguous())));
      }
    }
  }
}

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

using AffineOpsOperation = at::Tensor (*)(const at::Tensor&, absl::Span<const double>, Interpolation);

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

struct AffineOpsCase {
  const char* name;
  AffineOpsOperation apply;
};

constexpr AffineOpsCase kAffineOpsCases[] = {{"rotate", Rotate},
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
  for (const AffineOpsCase& c : kAffineOpsCases) {
    ExpectEqualsPillow(c.name, [&](const at::Tensor& images, const PillowParameters& parameters) {
      return c.apply(images, parameters[0], Interpolation::kNearest);
    });
  }
}

TEST(AffineOps, BilinearEqualPillow) {
  for (const AffineOpsCase& c : kAffineOpsCases) {
    ExpectEqualsPillow(std::string(c.name) + "_bilinear",
                       [&](const at::Tensor& images, const PillowParameters& parameters) {
                         return c.apply(images, parameters[0], Interpolation::kBilinear);
                       });
  }
}

TEST(AffineOps, AtZeroTheImageStays) {
  const at::Tensor images = at::arange(2 * 3 * 4 * 5, at::kByte).view({2, 3, 4, 5});
  for (const AffineOpsCase& c : kAffineOpsCases) {
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
  for (const AffineOpsCase& c : kAffineOpsCases) {
    for (const Interpolation interpolation : {Interpolation::kNearest, Interpolation::kBilinear}) {
      const at::Tensor both = c.apply(images, {0.3, -1.7}, interpolation);
      EXPECT_TRUE(at::equal(both.slice(0, 0, 1), c.apply(images.slice(0, 0, 1), {0.3}, interpolation))) << c.name;
      EXPECT_TRUE(at::equal(both.slice(0, 1, 2), c.apply(images.slice(0, 1, 2), {-1.7}, interpolation))) << c.name;
    }
  }
}

at::Tensor Cutout(const at::Tensor& images, absl::Span<const double> sides, absl::Span<const double> centre_x,
                  absl::Span<const double> centre_y) {
  std::vector<PixelOp> ops;
  for (size_t i = 0; i < sides.size(); ++i) {
    ops.push_back(openset::Cutout(sides[i], centre_x[i], centre_y[i], {images.size(2), images.size(3)}));
  }
  return ApplyPixelOps(images, ops);
}

// Which pixels of a black image of 6 x 8 pixels were painted.
at::Tensor Painted(double size, double centre_x, double centre_y) {
  return Cutout(at::zeros({1, 1, 6, 8}, at::kByte), {size}, {centre_x}, {centre_y}).squeeze() == 123;
}

// Whether exactly the rows and columns between these, ends included, are painted.
bool IsRectangle(const at::Tensor& painted, int64_t top, int64_t bottom, int64_t left, int64_t right) {
  at::Tensor expected = at::zeros_like(painted);
  expected.slice(0, top, bottom + 1).slice(1, left, right + 1).fill_(true);
  return at::equal(painted, expected);
}

TEST(Cutout, EqualsPillow) {
  ExpectEqualsPillow("cutout", [](const at::Tensor& images, const PillowParameters& parameters) {
    return Cutout(images, parameters[0], parameters[1], parameters[2]);
  });
}

TEST(Cutout, CoversBothEnds) {
  // Columns 4.2 - 1 = 3.2 -> 3 to 3 + 2 = 5, rows 2.5 - 1 = 1.5 -> 1 to 3.
  EXPECT_TRUE(IsRectangle(Painted(2, 4.2, 2.5), 1, 3, 3, 5));
  EXPECT_TRUE(IsRectangle(Painted(0, 4.2, 2.5), 2, 2, 4, 4));
}

TEST(Cutout, KeepsItsWidthAtTheTopLeftAndLosesItAtTheBottomRight) {
  EXPECT_TRUE(IsRectangle(Painted(3, 1, 1), 0, 3, 0, 3));
  // Columns 7.5 - 1.5 = 6 to 8, rows 5.5 - 1.5 = 4 to 6: beyond the last ones, 7 and 5.
  EXPECT_TRUE(IsRectangle(Painted(3, 7.5, 5.5), 4, 5, 6, 7));
  EXPECT_TRUE(IsRectangle(Painted(40, 4, 3), 0, 5, 0, 7));
}

TEST(Cutout, HasOneColour) {
  const at::Tensor painted = Cutout(at::zeros({1, 3, 2, 2}, at::kByte), {40}, {1}, {1});
  EXPECT_TRUE(at::equal(painted, at::tensor({125, 123, 114}).to(at::kByte).view({1, 3, 1, 1}).expand({1, 3, 2, 2})));
}

}  // namespace
}  // namespace openset

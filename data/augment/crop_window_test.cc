#include "data/augment/crop_window.h"

#include <algorithm>
#include <cmath>

#include "core/testing/parsed.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

RandomResizedCropSpec Spec() { return ParsedWithDefaults<RandomResizedCropSpec>(""); }

// The first attempt fits with a chance of more than 1/2 in a square; 500 draws meet every bound.
TEST(DrawCropWindow, KeepsToTheBounds) {
  RandomStream random(1, "crop");
  double smallest = 1, largest = 0, flattest = 0, tallest = 10;
  for (int i = 0; i < 500; ++i) {
    const CropWindow window = DrawCropWindow(Spec(), 200, 200, &random);
    EXPECT_GE(window.top, 0);
    EXPECT_GE(window.left, 0);
    EXPECT_LE(window.top + window.height, 200);
    EXPECT_LE(window.left + window.width, 200);
    const double area = static_cast<double>(window.height * window.width) / 40000;
    const double ratio = static_cast<double>(window.width) / static_cast<double>(window.height);
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
    flattest = std::max(flattest, ratio);
    tallest = std::min(tallest, ratio);
  }
  // Sides are rounded: 57 pixels, the shortest, by less than 1 %, an area by less than 2 %.
  EXPECT_NEAR(smallest, 0.08, 0.01);
  EXPECT_GT(largest, 0.9);
  EXPECT_GT(flattest, 1.25);
  EXPECT_LT(flattest, 4.0 / 3 * 1.02);
  EXPECT_LT(tallest, 0.8);
  EXPECT_GT(tallest, 0.75 / 1.02);
}

TEST(DrawCropWindow, TakesTheSameDrawsAgain) {
  RandomStream random(1, "crop"), same(1, "crop");
  const CropWindow window = DrawCropWindow(Spec(), 64, 48, &random);
  const double area = 64 * 48 * same.Uniform(0.08, 1);
  const double ratio = std::exp(same.Uniform(std::log(0.75), std::log(Spec().max_ratio())));
  // With this seed the first attempt fits.
  ASSERT_EQ(window.width, std::lround(std::sqrt(area * ratio)));
  ASSERT_EQ(window.height, std::lround(std::sqrt(area / ratio)));
  EXPECT_EQ(window.top, same.Below(64 - window.height + 1));
  EXPECT_EQ(window.left, same.Below(48 - window.width + 1));
}

// No window of at least 8 % of these images has a ratio within the limits: 0.08 * 4000 = 320, so a side of at least
// sqrt(320 * 3/4) = 15 pixels, and there are 2.
TEST(DrawCropWindow, OfImagesThatAreTooThinIsCentral) {
  RandomStream random(1, "crop");
  const CropWindow tall = DrawCropWindow(Spec(), 2000, 2, &random);
  EXPECT_EQ(tall.height, 3);  // 2 / (3/4), rounded
  EXPECT_EQ(tall.width, 2);
  EXPECT_EQ(tall.top, 998);
  EXPECT_EQ(tall.left, 0);
  const CropWindow wide = DrawCropWindow(Spec(), 2, 2000, &random);
  EXPECT_EQ(wide.height, 2);
  EXPECT_EQ(wide.width, 3);  // 2 * (4/3), rounded
  EXPECT_EQ(wide.left, 998);
}

// A window 1000 times as wide as high would be 32 x 0.032.
TEST(DrawCropWindow, HasAPixelForRatiosThatNoWindowOfTheImageHas) {
  RandomStream random(1, "crop");
  for (const double ratio : {1000.0, 1e300, 0.001, 1e-300}) {
    RandomResizedCropSpec spec = Spec();
    spec.set_min_ratio(ratio);
    spec.set_max_ratio(ratio);
    const CropWindow window = DrawCropWindow(spec, 32, 32, &random);
    EXPECT_EQ(window.height, ratio > 1 ? 1 : 32) << ratio;
    EXPECT_EQ(window.width, ratio > 1 ? 32 : 1) << ratio;
    EXPECT_EQ(window.top, ratio > 1 ? 15 : 0);  // (32 - 1) / 2, rounded down
    EXPECT_EQ(window.left, ratio > 1 ? 0 : 15);
  }
}

}  // namespace
}  // namespace openset

#include "data/augment/pixels/make_pixel_op.h"
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

}  // namespace
}  // namespace openset

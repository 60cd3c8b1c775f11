#include "data/augment/pixels/make_pixel_op.h"
#include "data/augment/testing/apply_each.h"
#include "data/augment/testing/pillow_golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

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

}  // namespace
}  // namespace openset

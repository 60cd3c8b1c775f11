#include <vector>

#include "data/augment/pixels/make_pixel_op.h"
#include "data/augment/testing/apply_each.h"
#include "data/augment/testing/pillow_golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

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

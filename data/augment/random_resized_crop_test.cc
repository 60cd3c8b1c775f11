#include "data/augment/random_resized_crop.h"

#include <algorithm>
#include <cmath>

#include "core/files/formats/npz.h"
#include "core/proto/proto_rules.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

RandomResizedCropSpec Spec() {
  RandomResizedCropSpec spec;
  FillDefaults(&spec);
  return spec;
}

at::Tensor ToTensor(const NpyArray& array) {
  return at::from_blob(const_cast<char*>(array.data.data()), array.shape, at::kByte).clone();
}

TEST(ResizedCrop, IsTorchvisionsOfPillowImages) {
  const NpzArrays golden = *ReadNpz("data/augment/testdata/crops.npz");
  const at::Tensor image = ToTensor(golden.at("image")).unsqueeze(0);
  const std::vector<int64_t> box = *ToInt64(golden.at("box"));
  const at::Tensor expected = ToTensor(golden.at("resized_crop"));
  for (int64_t i = 0; i < expected.size(0); ++i) {
    const at::Tensor crop = ResizedCrop(image, {box[4 * i], box[4 * i + 1], box[4 * i + 2], box[4 * i + 3]}, 8);
    ASSERT_EQ(crop.sizes(), at::IntArrayRef({1, 3, 8, 8}));
    // To one level, as Resize promises.
    EXPECT_LE((crop[0].to(at::kInt) - expected[i].to(at::kInt)).abs().max().item<int>(), 1) << "box " << i;
  }
}

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

TEST(RandomResizedCrop, EachImageByItsOwnDraws) {
  const at::Tensor images = at::arange(4 * 3 * 20 * 30).remainder_(251).to(at::kByte).view({4, 3, 20, 30});
  RandomStream random(3, "crop"), same(3, "crop");
  const at::Tensor crops = MakeRandomResizedCrop(Spec(), 8)->Apply(images, &random);
  ASSERT_EQ(crops.sizes(), at::IntArrayRef({4, 3, 8, 8}));
  for (int64_t i = 0; i < 4; ++i) {
    const CropWindow window = DrawCropWindow(Spec(), 20, 30, &same);
    EXPECT_TRUE(at::equal(crops.slice(0, i, i + 1), ResizedCrop(images.slice(0, i, i + 1), window, 8)));
  }
  EXPECT_EQ(MakeRandomResizedCrop(Spec(), 8)->size_effect(), SizeEffect::kFixes);
}

}  // namespace
}  // namespace openset

#include "data/augment/random_resized_crop.h"

#include <algorithm>
#include <cmath>

#include "core/files/formats/npz.h"
#include "core/proto/proto_rules.h"
#include "core/tensor/testing/memory_gpu.h"
#include "core/testing/parsed.h"
#include "data/augment/augmentation_members.h"
#include "data/augment/testing/pillow_golden.h"
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

at::Tensor Noise(int64_t batch, int64_t height, int64_t width) {
  at::manual_seed(1);
  return at::randint(256, {batch, 3, height, width}, at::kByte);
}

std::vector<CropWindow> Windows(const at::Tensor& images) {
  RandomResizedCropSpec spec;
  FillDefaults(&spec);
  RandomStream random(1, "windows");
  std::vector<CropWindow> windows;
  for (int64_t i = 0; i < images.size(0); ++i) {
    windows.push_back(DrawCropWindow(spec, images.size(2), images.size(3), &random));
  }
  return windows;
}

// The largest difference from the windows resized one by one.
int LargestDifference(const at::Tensor& images, const std::vector<CropWindow>& windows, int size,
                      ResizeSpec::Filter filter) {
  const at::Tensor crops = ResizeCrops(images, PackCropWindows(windows), size, filter);
  int largest = 0;
  for (int64_t i = 0; i < images.size(0); ++i) {
    const at::Tensor one = ResizedCrop(images.slice(0, i, i + 1), windows[i], size, filter);
    EXPECT_EQ(one.sizes().slice(1), crops.sizes().slice(1));
    largest = std::max(largest, (one[0].to(at::kInt) - crops[i].to(at::kInt)).abs().max().item<int>());
  }
  return largest;
}

TEST(ResizeCrops, IsResizedCropOfEach) {
  const at::Tensor images = Noise(20, 40, 30);
  for (const int size : {1, 8, 32, 64}) {
    EXPECT_LE(LargestDifference(images, Windows(images), size, ResizeSpec::BILINEAR), 1) << size;
    EXPECT_LE(LargestDifference(images, Windows(images), size, ResizeSpec::BICUBIC), 2) << size;
  }
}

TEST(CropWindowAt, UnpacksWhatIsPacked) {
  const at::Tensor packed = PackCropWindows({{0, 1, 2, 3}, {15000, 4, 7, 16000}});
  const CropWindow window = CropWindowAt(packed, 1);
  EXPECT_EQ(window.top, 15000);
  EXPECT_EQ(window.left, 4);
  EXPECT_EQ(window.height, 7);
  EXPECT_EQ(window.width, 16000);
}

TEST(ResizeCrops, CopiesAWindowOfTheSameSize) {
  const at::Tensor images = Noise(2, 9, 12);
  const std::vector<CropWindow> windows = {{0, 0, 5, 5}, {4, 7, 5, 5}};
  for (const auto filter : {ResizeSpec::BILINEAR, ResizeSpec::BICUBIC}) {
    EXPECT_EQ(LargestDifference(images, windows, 5, filter), 0);
  }
}

TEST(ResizeCrops, TakesAsManyOperationsForAnyBatch) {
  GpuWork before;
  for (const int64_t batch : {2, 128}) {
    const at::Tensor images = Noise(batch, 16, 16);
    const at::Tensor on_gpu = images.to(at::kCUDA);
    const at::Tensor windows = PackCropWindows(Windows(images));
    const at::Tensor windows_on_gpu = windows.to(at::kCUDA);
    ForgetGpuWork();
    const at::Tensor crops = ResizeCrops(on_gpu, windows_on_gpu, 8, ResizeSpec::BICUBIC);
    const GpuWork work = GpuWorkSoFar();
    EXPECT_LE(work.Operations(), 80);
    EXPECT_TRUE(work.waits.empty());
    EXPECT_EQ(work.copies_to_device, 0);
    if (batch > 2) {
      EXPECT_EQ(work.operations, before.operations);
    }
    before = work;
    EXPECT_TRUE(at::equal(crops.cpu(), ResizeCrops(images, windows, 8, ResizeSpec::BICUBIC)));
  }
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

TEST(RandomResizedCrop, EachImageByItsOwnDraws) {
  const at::Tensor images = at::arange(4 * 3 * 20 * 30).remainder_(251).to(at::kByte).view({4, 3, 20, 30});
  RandomStream random(3, "crop"), same(3, "crop");
  const at::Tensor crops = Make(Spec(), 8)->Apply(images, &random);
  ASSERT_EQ(crops.sizes(), at::IntArrayRef({4, 3, 8, 8}));
  for (int64_t i = 0; i < 4; ++i) {
    const CropWindow window = DrawCropWindow(Spec(), 20, 30, &same);
    EXPECT_TRUE(at::equal(crops.slice(0, i, i + 1), ResizedCrop(images.slice(0, i, i + 1), window, 8)));
  }
  EXPECT_EQ(Make(Spec(), 8)->size_effect(), SizeEffect::kFixes);
}

}  // namespace
}  // namespace openset

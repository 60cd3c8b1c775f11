#include "data/augment/resize_crops.h"

#include <algorithm>

#include "core/proto/proto_rules.h"
#include "core/random.h"
#include "core/tensor/testing/memory_gpu.h"
#include "data/augment/random_resized_crop.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

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

}  // namespace
}  // namespace openset

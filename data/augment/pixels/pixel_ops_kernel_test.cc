// Runs the code of the GPU's kernel on the CPU, with one thread in a block, and compares it with ApplyPixelOps().
#include <cstdint>
#include <vector>

#include "core/random.h"
#include "core/tensor/torch.h"
#include "data/augment/pixels/apply_pixel_ops.h"
#include "data/augment/pixels/make_pixel_op.h"
#include "gtest/gtest.h"

#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(threads)

namespace openset {
namespace {

struct Index {
  int x = 0;
};
constexpr Index threadIdx;
Index blockIdx;
void __syncthreads() {}
template <typename Number>
void atomicAdd(Number* sum, Number addend) {
  *sum += addend;
}

}  // namespace
}  // namespace openset

#include "data/augment/pixels/pixel_ops_kernel.cu"

namespace openset {
namespace {

at::Tensor RunKernel(const at::Tensor& images, const std::vector<PixelOp>& ops) {
  const at::Tensor result = at::empty_like(images);
  const at::Tensor spare = at::empty_like(images);
  const int batch = static_cast<int>(images.size(0));
  const PixelOpsLaunch launch = {images.const_data_ptr<uint8_t>(),
                                 reinterpret_cast<const uint8_t*>(ops.data()),
                                 result.mutable_data_ptr<uint8_t>(),
                                 spare.mutable_data_ptr<uint8_t>(),
                                 batch,
                                 static_cast<int>(ops.size()) / batch,
                                 static_cast<int>(images.size(1)),
                                 static_cast<int>(images.size(2)),
                                 static_cast<int>(images.size(3))};
  for (blockIdx.x = 0; blockIdx.x < batch; ++blockIdx.x) ApplyOps(launch);
  return result;
}

// One of each, and one that does nothing.
std::vector<PixelOp> AllOps(PixelSize size) {
  return {PixelOp(),
          AutoContrast(),
          Equalize(),
          Invert(),
          Posterize(3),
          Solarize(100),
          SolarizeAdd(33),
          EnhanceContrast(1.7),
          EnhanceBrightness(0.6),
          EnhanceColor(0.2),
          EnhanceSharpness(1.9),
          Rotate(17, size),
          Rotate(-25, size, Interpolation::kBilinear),
          TranslateX(2.5),
          TranslateY(-3),
          Cutout(4, 3, 5, size)};
}

TEST(PixelOpsKernel, ComputesWhatTheCpuComputes) {
  RandomStream random(1, "pixel_ops_kernel_test");
  for (const int64_t channels : {1, 3}) {
    const std::vector<PixelOp> all = AllOps({11, 9});
    const at::Tensor images = at::empty({48, channels, 11, 9}, at::kByte);
    for (int64_t i = 0; i < images.numel(); ++i) {
      images.mutable_data_ptr<uint8_t>()[i] = static_cast<uint8_t>(40 + random.Below(150));
    }
    for (const int of_image : {0, 1, 2, 3}) {
      std::vector<PixelOp> ops;
      for (int i = 0; i < 48 * of_image; ++i) ops.push_back(all[(i / of_image + i % of_image * 5) % all.size()]);
      EXPECT_TRUE(at::equal(RunKernel(images, ops), ApplyPixelOps(images, ops))) << channels << ", " << of_image;
    }
  }
}

}  // namespace
}  // namespace openset

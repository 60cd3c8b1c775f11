#include "core/tensor/testing/memory_gpu.h"
#include "core/tensor/torch.h"
#include "data/augment/pixels/make_pixel_op.h"
#include "data/augment/pixels/pixel_ops_kernel.h"
#include "data/augment/testing/apply_each.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(PixelOpsCuda, ABuildWithoutTheKernelComputesOnTheCpu) {
  if (OpensetLaunchPixelOps != nullptr) GTEST_SKIP() << "built with --config=cuda";
  const at::Tensor images = (at::arange(2 * 3 * 7 * 5, at::kInt) * 37 % 251).to(at::kByte).view({2, 3, 7, 5});
  ForgetGpuWork();
  const at::Tensor result = ApplyToAll(images.cuda(), EnhanceSharpness(0.3));
  ASSERT_TRUE(result.is_cuda());
  EXPECT_GT(GpuWorkSoFar().copies_to_host, 0);
  EXPECT_TRUE(at::equal(result.cpu(), ApplyToAll(images, EnhanceSharpness(0.3))));
}

// There is no GPU here, so CUDA's runtime refuses the launch, which shows that the kernel was compiled and linked.
TEST(PixelOpsCuda, ABuildForCudaHasTheKernel) {
  if (OpensetLaunchPixelOps == nullptr) GTEST_SKIP() << "built without --config=cuda";
  PixelOpsLaunch launch = {};
  launch.batch = 1;
  EXPECT_NE(OpensetLaunchPixelOps(&launch), 0);
}

}  // namespace
}  // namespace openset

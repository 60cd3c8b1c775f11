#include <cstdlib>
#include <string>

#include "core/files/runfiles.h"
#include "core/process/build_info.h"
#include "core/tensor/testing/memory_gpu.h"
#include "core/tensor/torch.h"
#include "core/testing/status_matchers.h"
#include "data/augment/pixels/make_pixel_op.h"
#include "data/augment/pixels/pixel_ops_kernel.h"
#include "data/augment/pixels/pixel_ops_launcher.h"
#include "data/augment/testing/apply_each.h"

namespace openset {
namespace {

constexpr char kVariable[] = "OPENSET_PIXEL_KERNEL";

TEST(PixelOpsCuda, WithoutTheKernelTheCpuComputes) {
  setenv(kVariable, "none", 1);
  const at::Tensor images = (at::arange(2 * 3 * 7 * 5, at::kInt) * 37 % 251).to(at::kByte).view({2, 3, 7, 5});
  ForgetGpuWork();
  const at::Tensor result = ApplyToAll(images.cuda(), EnhanceSharpness(0.3));
  ASSERT_TRUE(result.is_cuda());
  EXPECT_GT(GpuWorkSoFar().copies_to_host, 0);
  EXPECT_TRUE(at::equal(result.cpu(), ApplyToAll(images, EnhanceSharpness(0.3))));
  EXPECT_EQ(FindPixelOpsLauncher(), nullptr);
}

TEST(PixelOpsCuda, ALibraryCanBeNamed) {
  setenv(kVariable, (*RunfilesFolder() + "/openset/data/augment/pixels/libfake_pixel_ops_kernel.so").c_str(), 1);
  const PixelOpsLauncher launcher = FindPixelOpsLauncher();
  ASSERT_NE(launcher, nullptr);
  PixelOpsLaunch launch = {};
  launch.batch = 7;
  EXPECT_EQ(launcher(&launch), 1007);
}

TEST(PixelOpsCuda, ANamedLibraryThatCannotBeLoadedIsAnError) {
  setenv(kVariable, "/nowhere/kernel.so", 1);
  try {
    FindPixelOpsLauncher();
    ADD_FAILURE() << "it loaded";
  } catch (const c10::Error& error) {
    EXPECT_THAT(std::string(error.what()), HasSubstr("OPENSET_PIXEL_KERNEL: /nowhere/kernel.so: cannot open"));
  }
}

// There is no GPU here, so CUDA's runtime refuses the launch, which shows that the kernel was compiled and loaded.
TEST(PixelOpsCuda, ABuildForCudaHasTheKernel) {
  unsetenv(kVariable);
  const PixelOpsLauncher launcher = FindPixelOpsLauncher();
  EXPECT_EQ(launcher != nullptr, BuiltWithCuda());
  if (launcher == nullptr) return;
  PixelOpsLaunch launch = {};
  launch.batch = 1;
  EXPECT_NE(launcher(&launch), 0);
}

}  // namespace
}  // namespace openset

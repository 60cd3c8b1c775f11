#include "core/tensor/cuda.h"

#include <cstdlib>

#include "core/process/build_info.h"
#include "core/process/gpu/cuda_library.h"
#include "core/tensor/torch.h"
#include "core/tensor/torch_hooks.h"
#include "core/tensor/torch_runtime.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(CudaTest, TheVersionOfTheLibraryIsThatOfLibTorch) { EXPECT_THAT(TORCH_VERSION, StartsWith(kLibTorchVersion)); }

TEST(CudaTest, NamesTheMissingLibrary) {
  if (BuiltWithCuda()) GTEST_SKIP() << "it has one";
  setenv("OPENSET_TORCH", "/nowhere", /*overwrite=*/1);
  EXPECT_THAT(MakeCudaUsable(), IsNotFound("OPENSET_TORCH: /nowhere has no lib/libtorch_cuda.so"));
  EXPECT_FALSE(at::globalContext().hasCUDA());
}

// All its libraries are found, including cuDNN, with or without a GPU.
TEST(CudaTest, AProgramForCudaHasCudnn) {
  if (!BuiltWithCuda()) GTEST_SKIP() << "built without --config=cuda";
  unsetenv("OPENSET_TORCH");
  const absl::Status status = MakeCudaUsable();
  EXPECT_TRUE(status.ok() || absl::IsFailedPrecondition(status)) << status;  // there may be no GPU
  ASSERT_TRUE(at::CUDAHooksRegistry()->Has("CUDAHooks"));
  EXPECT_TRUE(at::detail::getCUDAHooks().hasCuDNN());
  EXPECT_GE(at::detail::getCUDAHooks().versionCuDNN(), 90000);
}

}  // namespace
}  // namespace openset

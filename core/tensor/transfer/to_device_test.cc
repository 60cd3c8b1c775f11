#include "core/tensor/transfer/to_device.h"

#include "core/tensor/testing/memory_gpu.h"
#include "core/tensor/torch.h"
#include "core/testing/tensor_matchers.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ToDevice, OnTheCpuIsTheTensorItself) {
  const at::Tensor host = at::arange(4);
  EXPECT_TRUE(ToDevice(host, at::kCPU).is_same(host));
}

TEST(ToDevice, TheHostDoesNotWaitForAGpu) {
  const at::Device gpu(at::kCUDA, 1);
  ForgetGpuWork();
  at::Tensor device;
  {
    const at::Tensor host = at::arange(6).view({2, 3}).t();
    device = ToDevice(host, gpu);
  }
  const at::Tensor doubled = device * 2;
  const GpuWork work = GpuWorkSoFar();
  EXPECT_EQ(work.copies_to_device, 1);
  EXPECT_TRUE(work.waits.empty());
  EXPECT_EQ(device.device(), gpu);
  EXPECT_THAT(doubled.cpu(), TensorEq(at::tensor({0, 6, 2, 8, 4, 10}, at::kLong).view({3, 2})));
  EXPECT_EQ(ToDevice(at::empty({0}), gpu).numel(), 0);
}

}  // namespace
}  // namespace openset

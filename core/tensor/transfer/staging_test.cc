#include "core/tensor/transfer/staging.h"

#include "core/tensor/testing/memory_gpu.h"
#include "core/testing/tensor_matchers.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Staging, OnTheCpuReturnsTheTensorsThemselves) {
  const at::Tensor first = at::arange(4), second = at::ones({2});
  Staging staging;
  staging.Add(first);
  staging.Add(second);
  staging.MoveTo(at::kCPU);
  EXPECT_TRUE(staging.Next().is_same(first));
  EXPECT_TRUE(staging.Next().is_same(second));
}

TEST(Staging, OneCopyToAGpuThatTheHostDoesNotWaitFor) {
  const at::Device gpu(at::kCUDA, 1);
  const at::Tensor bytes = at::arange(7, at::kByte), index = at::arange(6).view({2, 3});
  const at::Tensor values = at::tensor({0.5, -1.0, 2.0}, at::kDouble);
  ForgetGpuWork();
  at::Tensor on_gpu[4];
  {
    Staging staging;
    staging.Add(bytes.clone());
    staging.Add(index.clone());
    staging.Add(at::empty({0}, at::kLong));
    staging.Add(values.clone());
    staging.MoveTo(gpu);
    for (at::Tensor& tensor : on_gpu) tensor = staging.Next();
  }
  const at::Tensor doubled = on_gpu[3] * 2;
  const GpuWork work = GpuWorkSoFar();
  EXPECT_EQ(work.copies_to_device, 1);
  EXPECT_TRUE(work.waits.empty());
  EXPECT_EQ(on_gpu[0].device(), gpu);
  EXPECT_THAT(on_gpu[0].cpu(), TensorEq(bytes));
  EXPECT_THAT(on_gpu[1].cpu(), TensorEq(index));
  EXPECT_EQ(on_gpu[2].numel(), 0);
  EXPECT_EQ(on_gpu[2].scalar_type(), at::kLong);
  EXPECT_THAT(doubled.cpu(), TensorEq(values * 2));
}

TEST(StagingDeathTest, ReturnsEachTensorOnce) {
  Staging staging;
  staging.Add(at::arange(4));
  staging.Next();
  EXPECT_DEATH(staging.Next(), "was not added");
  EXPECT_DEATH(staging.Add(at::arange(6).view({2, 3}).t()), "contiguous");
}

}  // namespace
}  // namespace openset

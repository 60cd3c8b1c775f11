#include "core/tensor/transfer.h"

#include <thread>

#include "core/tensor/testing/memory_gpu.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"

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

using ::testing::ThrowsMessage;

const at::Device kGpu(at::kCUDA, 1);

// What a second thread makes on the side stream.
struct Made {
  at::Tensor copy, sum;
  std::optional<c10::Event> mark;
};

Made MakeInAThread(const SideStream& side, at::Device device) {
  Made made;
  std::thread([&] {
    const SideStreamScope scope(side);
    made.copy = ToDevice(at::ones({3}), device);
    made.sum = at::ones({3}, device) + 1;
    made.copy = ToDevice(at::full({3}, 5.0f), device);
    made.mark = side.Mark();
  }).join();
  return made;
}

TEST(SideStream, HandsItsTensorsOver) {
  for (const at::Device device : {at::Device(at::kCPU), kGpu}) {
    SCOPED_TRACE(device.str());
    const SideStream side(device);
    Made made = MakeInAThread(side, device);
    EXPECT_EQ(made.mark.has_value(), device.is_cuda());
    ForgetGpuWork();
    UseAfter(&made.mark, {made.copy, made.sum, at::Tensor()});
    EXPECT_TRUE(GpuWorkSoFar().waits.empty());
    EXPECT_THAT((made.copy + made.sum).cpu(), TensorEq(at::full({3}, 7.0f)));
  }
}

TEST(SideStream, ATensorThatIsNotHandedOverThrows) {
  const SideStream side(kGpu);
  const Made made = MakeInAThread(side, kGpu);
  EXPECT_THAT([&] { made.sum + 1; }, ThrowsMessage<c10::Error>(HasSubstr("record_stream() was not called")));
}

// Into memory of the default stream, so that only the order is wrong.
TEST(SideStream, ACopyIsUnseenBeforeItsMark) {
  const at::Tensor source = at::full({3}, 5.0f).pin_memory(), target = at::ones({3}, kGpu);
  const SideStream side(kGpu);
  std::optional<c10::Event> mark;
  std::thread([&] {
    const SideStreamScope scope(side);
    target.copy_(source, /*non_blocking=*/true);
    mark = side.Mark();
  }).join();
  EXPECT_THAT((target + 0).cpu(), Not(TensorEq(at::full({3}, 5.0f))));
  UseAfter(&mark, {target});
  EXPECT_THAT((target + 0).cpu(), TensorEq(at::full({3}, 5.0f)));
}

// LibTorch keeps freed memory for the stream that allocated it.
TEST(SideStream, IsOneForEachDevice) {
  const auto stream_of = [](at::Device device) {
    const SideStream side(device);
    const SideStreamScope scope(side);
    return c10::impl::VirtualGuardImpl(at::kCUDA).getStream(device).id();
  };
  EXPECT_NE(stream_of(kGpu), 0);
  EXPECT_EQ(stream_of(kGpu), stream_of(kGpu));
  EXPECT_NE(stream_of(kGpu), stream_of(at::Device(at::kCUDA, 0)));
}

// The source of what the side stream reads is a copy that the first thread began.
TEST(SideStream, BeginsAfterTheWorkOfTheThreadThatMadeIt) {
  const at::Tensor labels = ToDevice(at::full({3}, 5.0f), kGpu);
  const SideStream side(kGpu);
  at::Tensor sum;
  std::thread([&] {
    const SideStreamScope scope(side);
    sum = labels + 1;
    std::optional<c10::Event> mark = side.Mark();
    EXPECT_THAT(sum.cpu(), TensorEq(at::full({3}, 6.0f)));
  }).join();
}

}  // namespace
}  // namespace openset

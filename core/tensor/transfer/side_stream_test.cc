#include "core/tensor/transfer/side_stream.h"

#include <thread>

#include "core/tensor/testing/memory_gpu.h"
#include "core/tensor/transfer/to_device.h"
#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
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

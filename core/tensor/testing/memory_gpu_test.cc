#include "core/tensor/testing/memory_gpu.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/tensor/torch.h"
#include "core/tensor/torch_generator.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"

namespace openset {
namespace {

using ::testing::ThrowsMessage;

const at::Device kGpu(at::kCUDA, 1), kOther(at::kCUDA, 0);

TEST(MemoryGpu, IsCudaToLibTorch) {
  EXPECT_TRUE(at::globalContext().hasCUDA());
  const at::Tensor tensor = at::ones({2, 3}, kGpu);
  EXPECT_TRUE(tensor.is_cuda());
  EXPECT_EQ(tensor.device(), kGpu);
  EXPECT_EQ((tensor * 2).device(), kGpu);
  EXPECT_EQ(tensor.sum().item<double>(), 6);
  EXPECT_THAT(tensor.cpu(), TensorEq(at::ones({2, 3})));
  EXPECT_THAT(tensor.t().slice(0, 1).select(1, 0).cpu(), TensorEq(at::ones({2})));
}

TEST(MemoryGpu, ViewsAndInPlaceOperationsShareItsMemory) {
  const at::Tensor tensor = at::zeros({2, 3}, kGpu);
  tensor.select(0, 1).add_(at::arange(3, kGpu));
  tensor.view({6}).slice(0, 0, 2).fill_(7);
  tensor.index_put_({at::zeros({1}, at::kLong).to(kGpu), at::full({1}, 2, at::kLong).to(kGpu)},
                    at::full({1}, 9.0f, kGpu));
  EXPECT_THAT(tensor.cpu(), TensorEq(Matrix({{7, 7, 9}, {0, 1, 2}}).to(at::kFloat)));
  EXPECT_TRUE(tensor.unsqueeze(0).is_alias_of(tensor));
}

using MemoryGpuDeathTest = ::testing::Test;
TEST_F(MemoryGpuDeathTest, TheHostCannotReadItsMemory) {
  const at::Tensor tensor = at::ones({2}, kGpu);
  const volatile float* const data = tensor.const_data_ptr<float>();
  EXPECT_DEATH(static_cast<void>(data[0] == 1), "");
}

TEST(MemoryGpu, MixedDevicesThrow) {
  const at::Tensor here = at::ones({3}, kGpu), there = at::ones({3}, kOther), host = at::ones({3});
  EXPECT_THAT([&] { here + there; }, ThrowsMessage<c10::Error>(HasSubstr("same device")));
  EXPECT_THAT([&] { here + host; }, ThrowsMessage<c10::Error>(HasSubstr("same device")));
  EXPECT_THAT(
      [&] {
        at::mm(here.view({1, 3}), host.view({3, 1}));
      },
      ThrowsMessage<c10::Error>(HasSubstr("same device")));
  EXPECT_THAT([&] { at::cat({here, host}); }, ThrowsMessage<c10::Error>(HasSubstr("same device")));
  // CUDA accepts these from the host.
  EXPECT_THAT((here + at::scalar_tensor(2)).cpu(), TensorEq(at::full({3}, 3.0f)));
  EXPECT_THAT(here.index({at::tensor({0, 2})}).cpu(), TensorEq(at::ones({2})));
  EXPECT_THAT(here.to(kOther).add(there).cpu(), TensorEq(at::full({3}, 2.0f)));
}

TEST(MemoryGpu, GeneratorsDrawTheCpusNumbers) {
  const auto draw = [](at::Device device) {
    at::Generator generator = MakeGenerator(device, 7);
    at::empty({5}, device).bernoulli_(0.5, generator);
    const at::Tensor state = generator.get_state();
    const at::Tensor first = at::empty({5}, device).uniform_(0, 1, generator).cpu();
    generator.set_state(state);
    EXPECT_THAT(at::empty({5}, device).uniform_(0, 1, generator).cpu(), TensorEq(first));
    return first;
  };
  EXPECT_THAT(draw(kGpu), TensorEq(draw(at::kCPU)));
}

TEST(MemoryGpu, RecordsTheOrderOfItsWork) {
  ForgetGpuWork(/*record_sequence=*/true);
  const at::Tensor tensor = at::empty({2, 3}, kGpu).fill_(1.5);
  tensor.mul_(at::scalar_tensor(2));
  EXPECT_EQ(tensor.sum().item<double>(), 18);
  EXPECT_THAT(GpuWorkSoFar().sequence["main"],
              ElementsAre("aten::fill_.Scalar Float[2, 3] 1.5", "aten::mul.out Float[2, 3] 2 Float[2, 3]",
                          StartsWith("aten::sum.IntList_out Float[2, 3] "), "copy to the host", "wait: item"));
  ForgetGpuWork();
  tensor.fill_(1);
  EXPECT_TRUE(GpuWorkSoFar().sequence.empty());
}

// A sum that is replaced by a new one has another place in each step, one that is added to stays.
TEST(MemoryGpu, RecordsWhereThingsOfEarlierStepsAre) {
  const at::Tensor one = at::ones({2}, kGpu), added = at::zeros({2}, kGpu);
  at::Tensor replaced = at::zeros({2}, kGpu);
  ForgetGpuWork(/*record_sequence=*/true);
  for (int step = 0; step < 2; ++step) {
    BeginGpuStep();
    added.add_(one);
    replaced = replaced + one;
  }
  const std::vector<std::string> lines = GpuWorkSoFar().sequence["main"];
  ForgetGpuWork();
  ASSERT_EQ(lines.size(), 4);
  EXPECT_EQ(lines[0], lines[2]);
  EXPECT_THAT(lines[0], ContainsRegex("Float\\[2\\]@[0-9]+ Float\\[2\\]@[0-9]+ 1"));
  EXPECT_NE(lines[1], lines[3]);
}

TEST(MemoryGpu, CountsAListOfTensorsOnce) {
  const std::vector<at::Tensor> list = {at::ones({2}, kGpu), at::ones({3}, kGpu)};
  ForgetGpuWork();
  at::_foreach_add_(list, 1);
  EXPECT_THAT(GpuWorkSoFar().operations, ElementsAre(Pair("aten::_foreach_add_.Scalar", 1)));
  EXPECT_THAT(list[1].cpu(), TensorEq(at::full({3}, 2.0f)));
}

TEST(MemoryGpu, CountsItsWork) {
  const at::Tensor host = at::ones({4});
  ForgetGpuWork();
  const at::Tensor tensor = host.to(kGpu);
  const at::Tensor sum = (tensor * 2 + tensor).sum();
  EXPECT_EQ(sum.item<double>(), 12);
  EXPECT_EQ(tensor.masked_select(tensor > 0).numel(), 4);
  const GpuWork work = GpuWorkSoFar();
  EXPECT_THAT(work.operations,
              ElementsAre(Pair("aten::add.out", 1), Pair("aten::gt.Scalar_out", 1), Pair("aten::masked_select", 1),
                          Pair("aten::mul.out", 1), Pair("aten::sum.IntList_out", 1)));
  EXPECT_EQ(work.Operations(), 5);
  EXPECT_EQ(work.copies_to_device, 1);
  EXPECT_EQ(work.copies_to_host, 1);
  EXPECT_THAT(work.waits,
              ElementsAre(Pair("main: copy to the device", 1), Pair("main: item", 1), Pair("main: masked_select", 1)));
  EXPECT_EQ(work.Waits("main"), 3);
  EXPECT_EQ(work.Waits("autograd"), 0);
}

// The source is read when the device executes the copy.
TEST(MemoryGpu, ACopyToTheDeviceReadsItsPinnedSourceLater) {
  ForgetGpuWork();
  const at::Tensor pinned = at::ones({4}).pin_memory();
  ASSERT_TRUE(pinned.is_pinned());
  const at::Tensor early = pinned.to(kGpu, /*non_blocking=*/true);
  pinned.fill_(5);
  EXPECT_THAT(early.cpu(), TensorEq(at::full({4}, 5.0f)));
  const at::Tensor late = pinned.to(kGpu, /*non_blocking=*/true);
  const at::Tensor twice = late * 2;
  pinned.fill_(6);
  EXPECT_THAT(twice.cpu(), TensorEq(at::full({4}, 10.0f)));
  EXPECT_THAT(GpuWorkSoFar().waits, ElementsAre(Pair("main: copy to the host", 2)));
}

TEST(MemoryGpu, ACopyToTheHostIsNanUntilTheHostWaits) {
  const at::Tensor tensor = at::ones({4}, kGpu);
  const at::Tensor host = at::empty({4}, at::TensorOptions().pinned_memory(true));
  host.copy_(tensor, /*non_blocking=*/true);
  tensor.fill_(3);
  EXPECT_TRUE(std::isnan(host.const_data_ptr<float>()[0]));
  EXPECT_EQ(tensor[0].item<double>(), 3);
  EXPECT_THAT(host, TensorEq(at::ones({4})));
}

TEST(MemoryGpu, NondeterministicOperationsThrow) {
  const at::Tensor image = at::ones({1, 1, 4, 4}, kGpu).requires_grad_(true);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  const at::Tensor padded = at::reflection_pad2d(image, {1, 1, 1, 1});
  EXPECT_THAT([&] { padded.sum().backward(); },
              ThrowsMessage<std::exception>(HasSubstr("does not have a deterministic implementation")));
  at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false);
}

TEST(MemoryGpu, FailsOnRequest) {
  const at::Tensor tensor = at::ones({4}, kGpu);
  FailGpuOperation(2, GpuFailure::kOutOfMemory);
  const at::Tensor first = tensor + 1;
  EXPECT_THROW(first + 1, c10::OutOfMemoryError);
  EXPECT_THAT((first + 1).cpu(), TensorEq(at::full({4}, 3.0f)));
  FailGpuOperation(1, GpuFailure::kDeviceError);
  EXPECT_THROW(first + 1, c10::AcceleratorError);
  EXPECT_THROW(first + 1, c10::AcceleratorError);
  RepairGpu();
  EXPECT_THAT((first + 1).cpu(), TensorEq(at::full({4}, 3.0f)));
}

TEST(MemoryGpu, MemoryIsKeptUntilItIsGivenBack) {
  const int64_t before = GpuMemoryInUse();
  at::Tensor tensor = at::empty({1 << 20}, kGpu);
  EXPECT_EQ(GpuMemoryInUse() - before, 4 << 20);
  tensor = at::Tensor();
  EXPECT_EQ(GpuMemoryInUse(), before);
  EXPECT_GE(GpuMemoryKept(), 4 << 20);
}

}  // namespace
}  // namespace openset

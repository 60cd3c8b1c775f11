#include "tools/cli/devices/device_list.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

DeviceFacts FactsWith(const absl::StatusOr<std::vector<Gpu>>& gpus) {
  DeviceFacts facts = {"A Processor", 8192, "580.65.06", {}};
  facts.gpu.gpus = [gpus] { return gpus; };
  facts.gpu.library = [] { return absl::OkStatus(); };
  facts.gpu.driver = [] { return absl::OkStatus(); };
  return facts;
}

const Gpu kNew = {"NVIDIA H200", int64_t{141} << 30, 9, 0}, kOld = {"Tesla V100", int64_t{16} << 30, 7, 0};

TEST(DeviceList, GpusThatCanBeUsed) {
  EXPECT_THAT(DeviceList(FactsWith(std::vector<Gpu>{kNew})),
              AllOf(ContainsRegex("cpu +A Processor +8.0 GB +yes"),
                    ContainsRegex("cuda:0 +NVIDIA H200 +141.0 GB +9.0 +yes"), HasSubstr("driver is 580.65.06."),
                    HasSubstr("--devices=auto, the default, is each NVIDIA H200."), Not(HasSubstr("can't"))));
}

TEST(DeviceList, AGpuThatIsTooOld) {
  EXPECT_THAT(DeviceList(FactsWith(std::vector<Gpu>{kNew, kOld})),
              AllOf(ContainsRegex("cuda:1 +Tesla V100 +16.0 GB +7.0 +no"),
                    HasSubstr("cuda:1 can't be used: Tesla V100 has compute capability 7.0"),
                    HasSubstr("is each NVIDIA H200.")));
}

TEST(DeviceList, WhyNoneCanBeUsed) {
  DeviceFacts facts = FactsWith(std::vector<Gpu>{kNew});
  facts.gpu.driver = [] { return absl::FailedPreconditionError("install driver 580 or later"); };
  EXPECT_THAT(DeviceList(facts), AllOf(ContainsRegex("cuda:0 +NVIDIA H200 +141.0 GB +9.0 +no"),
                                       HasSubstr("The GPUs can't be used: install driver 580 or later."),
                                       HasSubstr("is refused: install driver 580")));
  facts.gpu.library = [] { return absl::NotFoundError("python3 has no PyTorch"); };
  EXPECT_THAT(DeviceList(facts), AllOf(HasSubstr("The GPUs can't be used: python3 has no PyTorch."),
                                       HasSubstr("--devices=auto, the default, is the CPU.")));
}

TEST(DeviceList, WithoutGpus) {
  EXPECT_THAT(DeviceList(FactsWith(absl::NotFoundError("no"))),
              HasSubstr("No GPU: there is no driver (libcuda.so.1)."));
  EXPECT_THAT(DeviceList(FactsWith(std::vector<Gpu>{})), HasSubstr("No GPU: the driver shows none."));
  EXPECT_THAT(DeviceList(FactsWith(absl::UnavailableError("it answers cuInit with error 999"))),
              HasSubstr("The GPUs can't be used: it answers cuInit with error 999."));
}

}  // namespace
}  // namespace openset

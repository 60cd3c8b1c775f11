#include "tools/cli/devices/devices.h"

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

using Names = std::vector<std::string>;

struct Rest {
  absl::Status library, driver;
};

// GPUs with compute capability 9.0, except the V100.
absl::StatusOr<Devices> Choose(const std::string& flag, const absl::StatusOr<Names>& names, const Rest& rest = {}) {
  GpuMachine machine;
  machine.gpus = [&]() -> absl::StatusOr<std::vector<Gpu>> {
    if (!names.ok()) return names.status();
    std::vector<Gpu> gpus;
    for (const std::string& name : *names) gpus.push_back({name, 0, name == "Tesla V100" ? 7 : 9, 0});
    return gpus;
  };
  machine.library = [&] { return rest.library; };
  machine.driver = [&] { return rest.driver; };
  return ChooseDevices(flag, machine);
}

const absl::Status kNoLibrary = absl::NotFoundError("python3 has no PyTorch");
const absl::Status kOldDriver = absl::FailedPreconditionError("install driver 580 or later");

void ExpectRefused(const absl::StatusOr<Devices>& devices, const std::string& why) {
  EXPECT_THAT(devices, IsInvalidArgument(why));
}

TEST(ChooseDevices, AutoTakesAllGpus) {
  const Devices devices = *Choose("auto", Names{"NVIDIA H200", "NVIDIA H200"});
  EXPECT_EQ(devices.default_device, ExecutionSpec::CUDA);
  EXPECT_THAT(devices.cuda, ElementsAre(0, 1));
  EXPECT_EQ(devices.kind, "NVIDIA H200");
}

TEST(ChooseDevices, WithoutGpusItIsTheCpu) {
  for (const absl::StatusOr<Devices>& devices :
       {Choose("auto", Names{}), Choose("auto", absl::NotFoundError("no driver")),
        Choose("auto", Names{"NVIDIA H200"}, {kNoLibrary, kOldDriver}),
        Choose("auto", absl::UnavailableError("it refuses"), {kNoLibrary}), Choose("cpu", Names{"NVIDIA H200"}),
        Choose("cpu", absl::UnavailableError("it refuses"))}) {
    ASSERT_TRUE(devices.ok());
    EXPECT_EQ(devices->default_device, ExecutionSpec::CPU);
    EXPECT_THAT(devices->cuda, IsEmpty());
    EXPECT_EQ(devices->kind, "");
  }
}

TEST(ChooseDevices, NamedGpusOfOneKindAmongOthers) {
  const Devices devices = *Choose("cuda:2,0", Names{"NVIDIA H200", "NVIDIA A100", "NVIDIA H200"});
  EXPECT_THAT(devices.cuda, ElementsAre(2, 0));
  EXPECT_EQ(devices.kind, "NVIDIA H200");
}

TEST(ChooseDevices, DifferentKindsAreRefused) {
  for (const char* flag : {"auto", "cuda:0,1"}) {
    ExpectRefused(Choose(flag, Names{"NVIDIA H200", "NVIDIA A100"}),
                  "0 (NVIDIA H200), 1 (NVIDIA A100); choose one kind, because each gives");
  }
}

TEST(ChooseDevices, MissingGpusAreRefused) {
  ExpectRefused(Choose("cuda:1", Names{"NVIDIA H200"}), "there is no GPU 1; the driver shows 0 (NVIDIA H200)");
  ExpectRefused(Choose("cuda:0,0", Names{"NVIDIA H200"}), "GPU 0 is named twice");
  ExpectRefused(Choose("cuda:0", absl::NotFoundError("no driver")), "the driver shows none");
  for (const char* flag : {"gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:0,", ""}) {
    ExpectRefused(Choose(flag, Names{"NVIDIA H200"}), "is not auto, cpu or cuda");
  }
}

TEST(ChooseDevices, NamedGpusNeedDriverAndLibrary) {
  EXPECT_EQ(Choose("cuda:0", Names{"NVIDIA H200"}, {kNoLibrary}).status(), kNoLibrary);
  for (const char* flag : {"auto", "cuda:0"}) {
    EXPECT_EQ(Choose(flag, Names{"NVIDIA H200"}, {absl::OkStatus(), kOldDriver}).status(), kOldDriver);
  }
}

TEST(ChooseDevices, OldGpusAreLeftOut) {
  EXPECT_THAT(Choose("auto", Names{"Tesla V100", "NVIDIA H200"})->cuda, ElementsAre(1));
  for (const char* flag : {"auto", "cuda:0"}) {
    EXPECT_THAT(Choose(flag, Names{"Tesla V100"}).status(),
                IsFailedPrecondition("Tesla V100 has compute capability 7.0"));
  }
}

TEST(ChooseDevices, ADriverThatRefusesIsAnError) {
  for (const char* flag : {"auto", "cuda:0"}) {
    EXPECT_EQ(Choose(flag, absl::UnavailableError("it refuses")).status().code(), absl::StatusCode::kUnavailable);
  }
}

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

TEST(UsableDevices, AreTheCpuAndGpusOfAnyKind) {
  const Gpu other = {"NVIDIA A100", int64_t{80} << 30, 8, 0};
  EXPECT_THAT(UsableDevices(FactsWith(std::vector<Gpu>{kNew, kOld, other}).gpu),
              ElementsAre("cpu", "cuda:0", "cuda:2"));
  EXPECT_THAT(UsableDevices(FactsWith(std::vector<Gpu>{}).gpu), ElementsAre("cpu"));
  EXPECT_THAT(UsableDevices(FactsWith(absl::NotFoundError("no")).gpu), ElementsAre("cpu"));
  DeviceFacts facts = FactsWith(std::vector<Gpu>{kNew});
  facts.gpu.driver = [] { return absl::FailedPreconditionError("install driver 580 or later"); };
  EXPECT_THAT(UsableDevices(facts.gpu), ElementsAre("cpu"));
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

#include "tools/cli/devices.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Names = std::vector<std::string>;

absl::StatusOr<Devices> Choose(const std::string& flag, const absl::StatusOr<Names>& names, bool with_cuda = true) {
  return ChooseDevices(flag, with_cuda, [&] { return names; });
}

void ExpectRefused(const absl::StatusOr<Devices>& devices, const std::string& why) {
  EXPECT_EQ(devices.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(devices.status().message()), HasSubstr(why));
}

TEST(ChooseDevices, AutoTakesAllGpusThereAre) {
  const Devices devices = *Choose("auto", Names{"NVIDIA H200", "NVIDIA H200"});
  EXPECT_EQ(devices.default_device, ExecutionSpec::CUDA);
  EXPECT_THAT(devices.cuda, ElementsAre(0, 1));
  EXPECT_EQ(devices.kind, "NVIDIA H200");
}

TEST(ChooseDevices, WithoutGpusItIsTheCpu) {
  for (const absl::StatusOr<Devices>& devices :
       {Choose("auto", Names{}), Choose("auto", absl::NotFoundError("no driver")),
        Choose("auto", Names{"NVIDIA H200"}, /*with_cuda=*/false), Choose("cpu", Names{"NVIDIA H200"}),
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
                  "0 (NVIDIA H200), 1 (NVIDIA A100); name those of one");
  }
}

TEST(ChooseDevices, WhatIsNotThereIsRefused) {
  ExpectRefused(Choose("cuda:1", Names{"NVIDIA H200"}), "there is no GPU 1; the driver shows 0 (NVIDIA H200)");
  ExpectRefused(Choose("cuda:0,0", Names{"NVIDIA H200"}), "GPU 0 is named twice");
  ExpectRefused(Choose("cuda:0", absl::NotFoundError("no driver")), "the driver shows none");
  ExpectRefused(Choose("cuda:0", Names{"NVIDIA H200"}, /*with_cuda=*/false), "built without CUDA");
  for (const char* flag : {"gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:0,", ""}) {
    ExpectRefused(Choose(flag, Names{"NVIDIA H200"}), "is not auto, cpu or cuda");
  }
}

TEST(ChooseDevices, ADriverThatRefusesIsAnError) {
  for (const char* flag : {"auto", "cuda:0"}) {
    EXPECT_EQ(Choose(flag, absl::UnavailableError("it refuses")).status().code(), absl::StatusCode::kUnavailable);
  }
}

}  // namespace
}  // namespace openset

#include "core/process/gpus.h"

#include <cstdlib>

#include "core/files/runfiles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<std::vector<std::string>> NamesOf(const char* fake_gpus) {
  setenv("FAKE_GPUS", fake_gpus, 1);
  return GpuNames(*RunfilesFolder() + "/openset/core/process/libfake_gpu_driver.so");
}

TEST(GpuNames, AreTheDriversInItsOrder) {
  EXPECT_THAT(*NamesOf("NVIDIA H200,NVIDIA A100"), ElementsAre("NVIDIA H200", "NVIDIA A100"));
}

TEST(GpuNames, NoneIsNoError) { EXPECT_THAT(*NamesOf(""), IsEmpty()); }

TEST(GpuNames, ADriverThatRefusesIsAnError) {
  const absl::Status status = NamesOf("error").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cuInit with error 999"));
}

TEST(GpuNames, NoLibraryIsNotFound) {
  EXPECT_EQ(GpuNames("libno_such_driver.so.1").status().code(), absl::StatusCode::kNotFound);
  // The C library has none of the functions.
  EXPECT_EQ(GpuNames("libc.so.6").status().code(), absl::StatusCode::kUnavailable);
}

TEST(GpuDriverVersion, IsTheFirstNumberWithADot) {
  EXPECT_EQ(
      GpuDriverVersionIn("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"
                         "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"),
      "550.54.15");
  EXPECT_EQ(GpuDriverVersionIn("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  565.57.01  Release Build"),
            "565.57.01");
  EXPECT_EQ(GpuDriverVersionIn(""), "");
}

}  // namespace
}  // namespace openset

#include "core/process/gpu/gpus.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "core/files/runfiles.h"
#include "core/process/interrupt.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

std::string FakeDriver() { return *RunfilesFolder() + "/openset/core/process/gpu/libfake_gpu_driver.so"; }

absl::StatusOr<std::vector<std::string>> NamesOf(const char* fake_gpus) {
  setenv("FAKE_GPUS", fake_gpus, 1);
  return GpuNames(FakeDriver());
}

absl::StatusOr<std::vector<pid_t>> ProcessesOf(int gpu, const std::string& fake_processes) {
  setenv("FAKE_GPUS", "NVIDIA H200,NVIDIA A100", 1);
  setenv("FAKE_GPU_PROCESSES", fake_processes.c_str(), 1);
  return GpuProcesses(gpu, FakeDriver(), FakeDriver());
}

TEST(GpuNames, AreTheDriversInItsOrder) {
  EXPECT_THAT(*NamesOf("NVIDIA H200,NVIDIA A100"), ElementsAre("NVIDIA H200", "NVIDIA A100"));
}

TEST(GpuNames, NoGpusAreNoError) { EXPECT_THAT(*NamesOf(""), IsEmpty()); }

TEST(GpuNames, ADriverThatRefusesIsAnError) { EXPECT_THAT(NamesOf("error"), IsUnavailable("cuInit with error 999")); }

TEST(GpuNames, NoLibraryIsNotFound) {
  EXPECT_EQ(GpuNames("libno_such_driver.so.1").status().code(), absl::StatusCode::kNotFound);
  // The C library has none of the functions.
  EXPECT_EQ(GpuNames("libc.so.6").status().code(), absl::StatusCode::kUnavailable);
}

TEST(ListGpus, HaveMemoryAndACapability) {
  setenv("FAKE_GPUS", "NVIDIA H200,Tesla V100-SXM2", 1);
  const std::vector<Gpu> gpus = *ListGpus(FakeDriver());
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_EQ(gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(gpus[0].memory_bytes, int64_t{16} << 30);
  EXPECT_EQ(gpus[0].compute_major, 9);
  EXPECT_EQ(gpus[0].compute_minor, 0);
  EXPECT_EQ(gpus[1].compute_major, 7);
}

// The driver has a thread, which must not take the signal and end the process.
TEST(ListGpus, LeaveSignalsToTheProgramsOwnThreads) {
  ASSERT_TRUE(NamesOf("NVIDIA H200").ok());
  Interrupt interrupt;
  kill(getpid(), SIGINT);
  EXPECT_EQ(interrupt.Take(), SIGINT);
}

TEST(GpuDriverCuda, IsTheDrivers) {
  EXPECT_EQ(GpuDriverCuda(FakeDriver()).value(), 13000);
  setenv("FAKE_GPU_CUDA", "12040", 1);
  EXPECT_EQ(GpuDriverCuda(FakeDriver()).value(), 12040);
  unsetenv("FAKE_GPU_CUDA");
  EXPECT_EQ(GpuDriverCuda("libno_such_driver.so.1").status().code(), absl::StatusCode::kNotFound);
}

TEST(GpuProcesses, AreThoseOnTheGpuOfThatOrdinal) {
  EXPECT_THAT(*ProcessesOf(0, "17,4242;99"), ElementsAre(17, 4242));
  EXPECT_THAT(*ProcessesOf(1, "17,4242;99"), ElementsAre(99));
  EXPECT_THAT(*ProcessesOf(1, "17"), IsEmpty());
}

TEST(GpuProcesses, MayBeMany) {
  std::string many = "1";
  for (int pid = 2; pid <= 40; ++pid) absl::StrAppend(&many, ",", pid);
  const std::vector<pid_t> processes = *ProcessesOf(0, many);
  ASSERT_THAT(processes, SizeIs(40));
  EXPECT_EQ(processes[39], 40);
}

TEST(GpuProcesses, AFailingDriverIsAnError) {
  EXPECT_THAT(ProcessesOf(0, "error"), IsUnavailable("nvmlInit_v2 with error 9"));
  EXPECT_THAT(std::string(ProcessesOf(2, "").status().message()), HasSubstr("cuDeviceGet with error 101"));
  EXPECT_EQ(GpuProcesses(0, FakeDriver(), "libno_such_nvml.so.1").status().code(), absl::StatusCode::kNotFound);
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

#include "core/process/capture_output.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(CaptureOutput, ReturnsTheOutput) {
  EXPECT_EQ(CaptureOutput({"sh", "-c", "echo one; echo not >&2; cat; echo two"}).value(), "one\ntwo\n");
}

TEST(CaptureOutput, ReportsHowTheProgramFailed) {
  EXPECT_EQ(CaptureOutput({"sh", "-c", "echo one; echo the reason >&2; exit 3"}).status(),
            absl::AbortedError("sh exited with 3: the reason"));
  EXPECT_EQ(CaptureOutput({"sh", "-c", "kill -9 $$"}).status(),
            absl::AbortedError("sh was killed by signal 9 (Killed)"));
  EXPECT_EQ(CaptureOutput({"/nowhere/sbatch"}).status(),
            absl::NotFoundError("cannot start /nowhere/sbatch: No such file or directory"));
  EXPECT_EQ(CaptureOutput({"sleep", "60"}, {absl::Milliseconds(50)}).status(),
            absl::DeadlineExceededError("sleep took more than 50ms"));
}

TEST(CaptureOutput, HasALimitOfBytes) {
  CaptureLimits limits;
  limits.bytes = 4096;
  EXPECT_EQ(CaptureOutput({"head", "-c", "4095", "/dev/zero"}, limits).value(), std::string(4095, '\0'));
  EXPECT_EQ(CaptureOutput({"head", "-c", "1000000", "/dev/zero"}, limits).status(),
            absl::ResourceExhaustedError("head wrote more than 4096 bytes"));
  EXPECT_EQ(CaptureOutput({"sh", "-c", "head -c 1000000 /dev/zero >&2"}, limits).status(),
            absl::ResourceExhaustedError("sh wrote more than 4096 bytes"));
}

}  // namespace
}  // namespace openset

#include "core/process/capture_output.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(CaptureOutput, GivesWhatItPrints) {
  EXPECT_EQ(CaptureOutput({"sh", "-c", "echo one; echo not >&2; cat; echo two"}).value(), "one\ntwo\n");
}

TEST(CaptureOutput, SaysHowItFailed) {
  EXPECT_EQ(CaptureOutput({"sh", "-c", "echo one; echo the reason >&2; exit 3"}).status(),
            absl::AbortedError("sh exited with 3: the reason"));
  EXPECT_EQ(CaptureOutput({"sh", "-c", "kill -9 $$"}).status(),
            absl::AbortedError("sh was killed by signal 9 (Killed)"));
  EXPECT_EQ(CaptureOutput({"/nowhere/sbatch"}).status(),
            absl::NotFoundError("cannot start /nowhere/sbatch: No such file or directory"));
  EXPECT_EQ(CaptureOutput({"sleep", "60"}, absl::Milliseconds(50)).status(),
            absl::DeadlineExceededError("sleep took more than 50ms"));
}

}  // namespace
}  // namespace openset

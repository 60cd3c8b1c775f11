#include "core/process/run_program.h"

#include "core/testing/status_matchers.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

TEST(RunProgram, SaysHowItEnded) {
  EXPECT_THAT(RunProgram({"true"}), IsOk());
  EXPECT_THAT(RunProgram({"/bin/sh", "-c", "exit 3"}), StatusIs(absl::StatusCode::kAborted, "/bin/sh exited with 3"));
  EXPECT_THAT(RunProgram({"sh", "-c", "kill -9 $$"}),
              StatusIs(absl::StatusCode::kAborted, "sh was killed by signal 9 (Killed)"));
  EXPECT_THAT(RunProgram({"no-such-program"}),
              StatusIs(absl::StatusCode::kNotFound, ::testing::HasSubstr("cannot start no-such-program")));
  EXPECT_THAT(RunProgram({"sh", "-c", "read line"}), StatusIs(absl::StatusCode::kAborted)) << "there is no input";
}

}  // namespace
}  // namespace openset

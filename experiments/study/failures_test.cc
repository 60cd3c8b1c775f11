#include "experiments/study/failures.h"

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

StudyFailure Failure(absl::StatusCode code) { return {"train", "", KindOf(static_cast<int>(code))}; }

TEST(FailureKinds, FollowFromTheCode) {
  EXPECT_EQ(KindOf(static_cast<int>(absl::StatusCode::kUnavailable)), FailureKind::kMachine);
  EXPECT_EQ(KindOf(static_cast<int>(absl::StatusCode::kResourceExhausted)), FailureKind::kMachine);
  EXPECT_EQ(KindOf(static_cast<int>(absl::StatusCode::kPermissionDenied)), FailureKind::kMachine);
  EXPECT_EQ(KindOf(static_cast<int>(absl::StatusCode::kDataLoss)), FailureKind::kInput);
  EXPECT_EQ(KindOf(static_cast<int>(absl::StatusCode::kAborted)), FailureKind::kMethod);
  EXPECT_EQ(KindOf(99), FailureKind::kMachine);  // a code that a later version may write
}

TEST(WhatToDo, AdvisesTheSameCommandOnlyIfItMayHelp) {
  EXPECT_EQ(WhatToDo({Failure(absl::StatusCode::kUnavailable)}), "the same command retries them");
  EXPECT_EQ(WhatToDo({}), "the same command retries them");
  const std::string diverged = WhatToDo({Failure(absl::StatusCode::kAborted)});
  EXPECT_THAT(diverged, HasSubstr("(--methods)"));
  EXPECT_THAT(diverged, Not(HasSubstr("retries")));
  StudyFailure of_command = Failure(absl::StatusCode::kInvalidArgument);
  of_command.what =
      "train forest on cloud, split 0, seed 0 (1 time): training.command: 'forest.py' ended without outputs";
  EXPECT_EQ(WhatToDo({of_command}),
            "repair the command's program (the log says why it failed), then run the same command");
  EXPECT_THAT(WhatToDo({of_command, Failure(absl::StatusCode::kAborted)}),
              HasSubstr("then run the same command; the method would fail again"));
  EXPECT_EQ(WhatToDo({Failure(absl::StatusCode::kDataLoss)}), "repair the named files, then run the same command");
  EXPECT_THAT(WhatToDo({Failure(absl::StatusCode::kAborted), Failure(absl::StatusCode::kUnavailable)}),
              HasSubstr("(--methods); the same command retries failures of the machine"));
}

TEST(SplitsText, JoinsTheLastOneByAnd) {
  EXPECT_EQ(SplitsText({3}), "split 3");
  EXPECT_EQ(SplitsText({0, 1}), "splits 0 and 1");
  EXPECT_EQ(SplitsText({0, 1, 4}), "splits 0, 1 and 4");
}

// Trials of other openness levels are no other splits.
TEST(FailedLines, OneForEachRowLevelAndSeed) {
  EXPECT_THAT(FailedLines({{"vim", "2 unknown classes", 0, 1},
                           {"vim", "4 unknown classes", 0, 1},
                           {"vim", "2 unknown classes", 1, 1},
                           {"vim", "2 unknown classes", 0, 2},
                           {"mcp", "2 unknown classes", 0, 1}}),
              ElementsAre("vim, splits 0 and 1, seed 1, 2 unknown classes", "vim, split 0, seed 1, 4 unknown classes",
                          "vim, split 0, seed 2, 2 unknown classes", "mcp, split 0, seed 1, 2 unknown classes"));
  EXPECT_THAT(FailedLines({{"vim on a", "", 3, 0}, {"vim on b", "", 3, 0}, {"vim on a", "", 5, 0}}),
              ElementsAre("vim on a, splits 3 and 5, seed 0", "vim on b, split 3, seed 0"));
  EXPECT_THAT(FailedLines({}), ElementsAre());
}

}  // namespace
}  // namespace openset

#include "core/process/run_program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

TEST(RunProgram, ReportsHowItEnded) {
  EXPECT_THAT(RunProgram({"true"}), IsOk());
  EXPECT_THAT(RunProgram({"/bin/sh", "-c", "exit 3"}), StatusIs(absl::StatusCode::kAborted, "/bin/sh exited with 3"));
  EXPECT_THAT(RunProgram({"sh", "-c", "kill -9 $$"}),
              StatusIs(absl::StatusCode::kAborted, "sh was killed by signal 9 (Killed)"));
  EXPECT_THAT(RunProgram({"no-such-program"}),
              StatusIs(absl::StatusCode::kNotFound, ::testing::HasSubstr("cannot start no-such-program")));
  EXPECT_EQ(RunToEnd({"sh", "-c", "exit 3"})->exit_code, 3);
  EXPECT_THAT(RunProgram({"sh", "-c", "read line"}), StatusIs(absl::StatusCode::kAborted)) << "there is no input";
}

TEST(RunProgram, LimitsTheFilesItWrites) {
  const std::string path = ::testing::TempDir() + "/limited";
  EXPECT_THAT(RunProgram({"sh", "-c", "head -c 5000 /dev/zero > $0", path}, 4000),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(std::filesystem::file_size(path), 4000);
  EXPECT_THAT(RunProgram({"sh", "-c", "head -c 4000 /dev/zero > $0", path}, 4000), IsOk());
}

// The program holds the pipe's other end open while it runs.
TEST(RunProgram, DiesWithUs) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    RunProgram({"sh", "-c", absl::StrCat("echo x >&", ends[1], "; exec sleep 1000")}).IgnoreError();
    _exit(0);
  }
  close(ends[1]);
  char byte;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);  // the program runs
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  while (read(ends[0], &byte, 1) > 0) {
  }
  close(ends[0]);  // end of file: no process holds the other end
}

}  // namespace
}  // namespace openset

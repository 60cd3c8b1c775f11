#include "core/process/subprocess.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "core/files/files.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

std::string Log() {
  return testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".log";
}

std::unique_ptr<Subprocess> Shell(const std::string& command) {
  std::ofstream(Log(), std::ios::trunc);
  auto process = Subprocess::Start({"/bin/sh", "-c", command}, {{"OPENSET_TEST", "value"}}, Log());
  EXPECT_TRUE(process.ok()) << process.status();
  return *std::move(process);
}

TEST(Subprocess, ReportsHowItEnded) {
  EXPECT_TRUE(Shell("exit 0")->Wait().ok());
  EXPECT_EQ(Shell("exit 3")->Wait().exit_code, 3);
  EXPECT_EQ(Shell("kill -SEGV $$")->Wait().signal, SIGSEGV);
}

TEST(Subprocess, LogsOutputAndError) {
  EXPECT_TRUE(Shell("echo out $OPENSET_TEST; echo err >&2; cat")->Wait().ok());
  EXPECT_EQ(*ReadFile(Log()), "out value\nerr\n");
}

TEST(Subprocess, SharesAChannel) {
  const std::unique_ptr<Subprocess> process = Shell("read line <&3; echo got $line >&3");
  ASSERT_EQ(write(process->channel(), "hello\n", 6), 6);
  char buffer[64];
  std::string reply;
  for (ssize_t got; (got = read(process->channel(), buffer, sizeof(buffer))) > 0;) reply.append(buffer, got);
  EXPECT_EQ(reply, "got hello\n");
  EXPECT_TRUE(process->Wait().ok());
}

TEST(Subprocess, KillsTheWholeGroup) {
  // The grandchild holds the channel open until it dies too.
  const std::unique_ptr<Subprocess> process = Shell("sleep 1000 & echo started >&3; wait");
  char buffer[64];
  ASSERT_GT(read(process->channel(), buffer, sizeof(buffer)), 0);
  process->Kill(SIGKILL);
  EXPECT_EQ(process->Wait().signal, SIGKILL);
  EXPECT_EQ(read(process->channel(), buffer, sizeof(buffer)), 0);
}

TEST(Subprocess, WaitsForAStatedTime) {
  const std::unique_ptr<Subprocess> process = Shell("read line <&3; exit 3");
  EXPECT_FALSE(process->WaitFor(absl::Milliseconds(1)).has_value());
  ASSERT_EQ(write(process->channel(), "go\n", 3), 3);
  EXPECT_EQ(process->WaitFor(absl::InfiniteDuration())->exit_code, 3);
  // It is known from then on.
  EXPECT_EQ(process->WaitFor(absl::ZeroDuration())->exit_code, 3);
  EXPECT_EQ(process->Wait().exit_code, 3);
}

TEST(Subprocess, AGroupHasEndedWhenAllProcessesHave) {
  // Its grandchild becomes our child, which stays a zombie as long as we do not wait for it.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const std::unique_ptr<Subprocess> process = Shell("sleep 1000 & echo $! >&3; read line <&3");
  char buffer[64] = "";
  ASSERT_GT(read(process->channel(), buffer, sizeof(buffer) - 1), 0);
  const pid_t grandchild = std::stoi(buffer);
  EXPECT_FALSE(process->GroupHasEnded());
  process->Kill(SIGKILL);
  process->Wait();
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, grandchild, &info, WEXITED | WNOWAIT), 0);  // until it is dead
  EXPECT_EQ(kill(-process->pid(), 0), 0);
  EXPECT_TRUE(process->GroupHasEnded());
  ASSERT_EQ(waitpid(grandchild, nullptr, 0), grandchild);
  EXPECT_TRUE(process->GroupHasEnded());
}

// A child that waits for ever, in an existing group.
pid_t ChildInGroup(pid_t group) {
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  EXPECT_EQ(setpgid(child, group), 0);
  return child;
}

TEST(Subprocess, AGroupHasNotEndedWhileAProcessRuns) {
  const std::unique_ptr<Subprocess> process = Shell("read line <&3");
  const pid_t dead = ChildInGroup(process->pid());  // still exists, because nobody waits for it
  process->Kill(SIGKILL);
  process->Wait();
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, dead, &info, WEXITED | WNOWAIT), 0);  // until it is dead: killing does not wait for that
  const pid_t alive = ChildInGroup(process->pid());
  EXPECT_FALSE(process->GroupHasEnded());
  kill(alive, SIGKILL);
  ASSERT_EQ(waitpid(alive, nullptr, 0), alive);
  EXPECT_TRUE(process->GroupHasEnded());
  ASSERT_EQ(waitpid(dead, nullptr, 0), dead);
}

TEST(Subprocess, NamesAProgramThatCannotStart) {
  EXPECT_EQ(Subprocess::Start({"/nowhere/program"}, {}, Log()).status(),
            absl::NotFoundError("cannot start /nowhere/program: No such file or directory"));
  EXPECT_EQ(Subprocess::Start({"/bin/true"}, {}, "/nowhere/log").status().code(), absl::StatusCode::kUnavailable);
}

TEST(Subprocess, DoesNotWaitForTheReaderOfALog) {
  const std::string pipe = ::testing::TempDir() + "/pipe.log";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(Subprocess::Start({"/bin/sh"}, {}, pipe).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace openset

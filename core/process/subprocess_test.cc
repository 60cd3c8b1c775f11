#include "core/process/subprocess.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(ProcessStat, IsParsedAfterAnyName) {
  const auto stat = ParseProcessStat(
      "4242 (a) Z 9 (b) S 17 4200 4200 34816 4242 4194304 1 0 0 0 120 30 0 0 20 0 1 0 987654 8192 1 "
      "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->group, 4200);
  EXPECT_EQ(stat->cpu_ticks, 120 + 30);
  EXPECT_EQ(stat->start_ticks, 987654);
  EXPECT_FALSE(stat->has_ended());
}

TEST(ProcessStat, RefusesOtherText) {
  for (const char* text : {"", "4242 (name)", "4242 (name) S 17 4200", "no process"}) {
    EXPECT_FALSE(ParseProcessStat(text).has_value()) << text;
  }
}

TEST(ProcessStat, CountsTheBytesThatAProcessReads) {
  const int64_t before = BytesReadBy(getpid());
  std::ifstream("/proc/version").get();
  EXPECT_GT(BytesReadBy(getpid()), before);
  EXPECT_EQ(BytesReadBy(0), 0);
}

TEST(ProcessStat, AZombieHasEndedAndDisappearsAfterWait) {
  EXPECT_EQ(StatOf(getpid())->group, getpgrp());
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  ASSERT_TRUE(StatOf(child).has_value());
  EXPECT_FALSE(StatOf(child)->has_ended());
  EXPECT_EQ(StatOf(child)->group, getpgrp());
  EXPECT_GE(StatOf(child)->start_ticks, StatOf(getpid())->start_ticks);
  kill(child, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(StatOf(child)->has_ended());
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(StatOf(child).has_value());
}

ProcessEnd EndOf(const std::string& command, const SpawnOptions& options = {}) {
  const absl::StatusOr<pid_t> child = Spawn({"sh", "-c", command}, options);
  EXPECT_TRUE(child.ok()) << child.status();
  return WaitForEnd(*child);
}

TEST(Spawn, TellsHowAProcessEnded) {
  const ProcessEnd good = EndOf("exit 0");
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.ToStatus("sh"), absl::OkStatus());

  const ProcessEnd failed = EndOf("exit 3");
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_EQ(failed.signal, 0);
  EXPECT_EQ(failed.Text(), "exited with 3");
  EXPECT_EQ(failed.ToStatus("sh"), absl::AbortedError("sh exited with 3"));
  EXPECT_EQ(failed.ToStatus(), absl::AbortedError("exited with 3"));

  const ProcessEnd killed = EndOf("kill -9 $$");
  EXPECT_FALSE(killed.ok());
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.exit_code, 0);
  EXPECT_FALSE(killed.dumped_core);
  EXPECT_EQ(killed.Text(), "was killed by signal 9 (Killed)");
}

TEST(Spawn, ReportsResourceUsage) { EXPECT_GT(EndOf("exit 0").usage.ru_maxrss, 0); }

TEST(Spawn, PassesDescriptorsAndVariablesButNoInput) {
  SpawnOptions options;
  options.output = memfd_create("out", MFD_CLOEXEC);
  options.error = options.output;
  options.channel = memfd_create("channel", MFD_CLOEXEC);
  options.environment = {{"OPENSET_TEST", "value"}};
  setenv("OPENSET_TEST", "replaced", 1);
  EXPECT_TRUE(EndOf("echo $OPENSET_TEST; echo err >&2; echo to us >&3; cat", options).ok());
  const auto content = [](int file) {
    char text[100] = "";
    EXPECT_GT(pread(file, text, sizeof(text) - 1, 0), 0);
    return std::string(text);
  };
  EXPECT_EQ(content(options.output), "value\nerr\n");
  EXPECT_EQ(content(options.channel), "to us\n");
  close(options.output);
  close(options.channel);
}

TEST(Spawn, MakesItsOwnProcessGroup) {
  SpawnOptions options;
  options.has_own_group = true;
  ASSERT_OK_AND_ASSIGN(const pid_t child, Spawn({"sleep", "1000"}, options));
  EXPECT_EQ(getpgid(child), child);
  EXPECT_FALSE(WaitForEnd(child, absl::Milliseconds(1)).has_value());
  EXPECT_EQ(kill(-child, SIGTERM), 0);
  EXPECT_EQ(WaitForEnd(child).signal, SIGTERM);
}

TEST(Spawn, NamesAProgramThatCannotStart) {
  EXPECT_EQ(Spawn({"/nowhere/program"}).status(),
            absl::NotFoundError("cannot start /nowhere/program: No such file or directory"));
  EXPECT_EQ(Spawn({"no-such-program"}).status().code(), absl::StatusCode::kNotFound);
}

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

#include "experiments/store/processes/stop_run.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/machine/machine.h"
#include "core/process/subprocess.h"
#include "core/proto/record_file.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/processes/leases.h"

namespace openset {
namespace {

class StopRunTest : public ::testing::Test {
 protected:
  StopRunTest() : store_(JoinPath(testing::TempDir(), testing::UnitTest::GetInstance()->current_test_info()->name())) {}

  // Starts a run's process that waits for a signal. Returns after its first sign of life.
  pid_t Start() const {
    int ready[2];
    if (pipe(ready) != 0) return -1;
    const pid_t pid = fork();
    if (pid == 0) {
      signal(SIGINT, SIG_DFL);
      const auto leases = Leases::Begin(store_);
      (void)!write(ready[1], leases.ok() ? "1" : "0", 1);
      while (true) pause();
    }
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_EQ(byte, '1');
    close(ready[0]);
    close(ready[1]);
    return pid;
  }

  static int SignalThatEnded(pid_t pid) {
    int ended = 0;
    EXPECT_EQ(waitpid(pid, &ended, 0), pid);
    return WIFSIGNALED(ended) ? WTERMSIG(ended) : 0;
  }

  const Store store_;
};

TEST_F(StopRunTest, InterruptsTheProcess) {
  const pid_t pid = Start();
  const std::vector<RunState> runs = RunsOf(store_);
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(AskToStop(store_, runs[0]), absl::OkStatus());
  EXPECT_EQ(SignalThatEnded(pid), SIGINT);
  EXPECT_EQ(AskToStop(store_, runs[0]), absl::NotFoundError("has ended"));
}

TEST_F(StopRunTest, RefusesProcessesOfOtherMachines) {
  RunState run;
  for (const char* id : {"elsewhere.0123abcd.10.1", "no name"}) {
    run.set_id(id);
    EXPECT_EQ(AskToStop(store_, run), absl::FailedPreconditionError("stop it on its machine, by Ctrl-C or kill -INT"));
  }
}

// The file in runs/ names a process of this machine that is not the one that began at that time.
TEST_F(StopRunTest, DoesNotInterruptAnotherProcessWithTheSameId) {
  const pid_t pid = Start();
  RunState run;
  run.set_id(absl::StrCat(HostName(), ".", ProcessSpace(), ".", pid, ".1"));
  ASSERT_TRUE(WriteFileAtomically(absl::StrCat(store_.folder(), "/runs/", run.id(), ".rec"), EncodeRecord(run)).ok());
  EXPECT_EQ(AskToStop(store_, run), absl::NotFoundError("has ended"));
  EXPECT_EQ(kill(pid, 0), 0);
  kill(pid, SIGKILL);
  EXPECT_EQ(SignalThatEnded(pid), SIGKILL);
}

// Others can make a file in runs/ that this user owns (a hard link to another one's) name any process.
TEST_F(StopRunTest, InterruptsOnlyARunOnThisStore) {
  const auto written = [this](pid_t pid) {
    RunState run;
    run.set_id(absl::StrCat(HostName(), ".", ProcessSpace(), ".", pid, ".", StatOf(pid)->start_ticks));
    EXPECT_TRUE(MakeFolders(store_.folder() + "/runs").ok());
    EXPECT_TRUE(WriteFileAtomically(absl::StrCat(store_.folder(), "/runs/", run.id(), ".rec"), EncodeRecord(run)).ok());
    return run;
  };
  // Another program, and this program without a run on the store.
  const pid_t other = fork();
  if (other == 0) execl("/bin/sleep", "sleep", "600", nullptr);
  const pid_t idle = fork();
  if (idle == 0) {
    while (true) pause();
  }
  const auto program = [](pid_t pid) { return std::filesystem::read_symlink(absl::StrCat("/proc/", pid, "/exe")); };
  while (program(other) == program(getpid())) usleep(1000);  // until execl() is done
  for (const pid_t pid : {other, idle}) {
    const absl::Status status = AskToStop(store_, written(pid));
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("is not a run of this openset on this store"));
    kill(pid, SIGKILL);
    EXPECT_EQ(SignalThatEnded(pid), SIGKILL);
  }
}

// A file of another user that names our process (only root can make it here), and a link to our file, are not trusted.
TEST_F(StopRunTest, TrustsOnlyTheOwnersFile) {
  const pid_t pid = Start();
  const std::vector<RunState> runs = RunsOf(store_);
  ASSERT_THAT(runs, SizeIs(1));
  const std::string path = absl::StrCat(store_.folder(), "/runs/", runs[0].id(), ".rec");
  ASSERT_EQ(rename(path.c_str(), (path + "x").c_str()), 0);
  ASSERT_EQ(symlink((path + "x").c_str(), path.c_str()), 0);
  EXPECT_EQ(AskToStop(store_, runs[0]), absl::PermissionDeniedError("belongs to another user, who must stop it"));
  ASSERT_EQ(rename((path + "x").c_str(), path.c_str()), 0);
  if (chown(path.c_str(), 64001, 64001) == 0) {  // root may, outside of a sandbox
    EXPECT_EQ(AskToStop(store_, runs[0]), absl::PermissionDeniedError("belongs to another user, who must stop it"));
  }
  kill(pid, SIGKILL);
  EXPECT_EQ(SignalThatEnded(pid), SIGKILL);
}

}  // namespace
}  // namespace openset

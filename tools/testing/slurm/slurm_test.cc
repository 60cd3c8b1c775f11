// openset on a real Slurm, which the test starts. If that fails, the test is skipped with the reason.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/process/subprocess.h"
#include "experiments/engine/slurm/program_copy.h"
#include "experiments/store/record.pb.h"
#include "experiments/store/store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"
#include "tools/testing/slurm/real_slurm.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kSpec = absl::StrCat("seed: [0, 1, 2, 3]", kShortStudy);

class Slurm : public ::testing::Test {
 protected:
  // One for all tests.
  static void SetUpTestSuite() {
    slurm_ = new RealSlurm(2);
    if (!slurm_->problem().empty()) std::cout << "SKIPPED: Slurm does not run here: " << slurm_->problem() << std::endl;
  }
  static void TearDownTestSuite() { delete slurm_; }

  void SetUp() override {
    if (!slurm_->problem().empty()) GTEST_SKIP() << slurm_->problem();
    program_.Write("study.textproto", kSpec);
    program_.Write("cluster.textproto", "engine: SLURM slurm { partition: 'main' poll_seconds: 1 idle_seconds: 3 }");
  }

  std::vector<std::string> RunArguments() const { return {"run", "study.textproto", "--deploy=cluster.textproto"}; }

  int WaitFor(pid_t pid) const {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  bool HasPartial() const {
    std::error_code error;
    return !std::filesystem::is_empty(program_.store() + "/partial", error) && !error;
  }

  static void WaitForEmptyQueue() {
    for (int waits = 0; waits < 6000 && CaptureOutput({"squeue", "--noheader"}).value_or("?") != ""; ++waits)
      usleep(20000);
    EXPECT_EQ(CaptureOutput({"squeue", "--noheader"}).value_or("?"), "");
  }

  // The first task that runs: "JOB_INDEX".
  static std::string RunningTask() {
    const std::string lines =
        CaptureOutput({"squeue", "--array", "--noheader", "--states=RUNNING", "--format=%F_%K"}).value_or("");
    return lines.substr(0, lines.find('\n'));
  }

  void ExpectRecordsOfALocalRun() const {
    const OpensetProgram local("local");
    local.Write("study.textproto", kSpec);
    ASSERT_EQ(local.Run({"run", "study.textproto"}).exit_code, 0);
    EXPECT_EQ(program_.Records(), local.Records());
    EXPECT_EQ(program_.Records().size(), 4);
  }

  static RealSlurm* slurm_;
  const OpensetProgram program_;
};

RealSlurm* Slurm::slurm_ = nullptr;

TEST_F(Slurm, MakesTheRecordsOfALocalRun) {
  const ProgramResult result = program_.Run(RunArguments());
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("accuracy"));
  ExpectRecordsOfALocalRun();
  WaitForEmptyQueue();  // the tasks see that nothing is left
}

TEST_F(Slurm, RunsTheProgramThatWasSubmitted) {
  const std::string runfiles = *RunfilesFolder();
  const absl::StatusOr<ProgramCopy> built =
      CopyProgram(Store(program_.folder() + "/built"), runfiles,
                  std::filesystem::canonical(runfiles + "/openset/tools/openset_unstamped").string());
  ASSERT_TRUE(built.ok()) << built.status();
  const absl::StatusOr<std::string> submitted =
      CaptureOutput({"env", "--unset=TEST_SRCDIR", "--unset=RUNFILES_DIR", built->program, "run",
                     program_.folder() + "/study.textproto", "--deploy=" + program_.folder() + "/cluster.textproto",
                     "--store=" + program_.store(), "--detach"});
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  std::filesystem::remove_all(built->folder);
  WaitForEmptyQueue();
  ExpectRecordsOfALocalRun();
  const std::vector<std::string> programs = *ListFolder(program_.store() + "/programs");
  ASSERT_EQ(programs.size(), 1);
  const std::string tools = program_.store() + "/programs/" + programs[0] + "/program.runfiles/openset/tools/";
  const TrialRecord record = program_.AnyRecord();
  for (const StageProvenance& stage : record.provenance().stage()) {
    const char* name = stage.stage() == StageProvenance::EVALUATE ? "openset_unstamped" : "openset_worker_unstamped";
    EXPECT_EQ(stage.program_sha256(), *Sha256HexOfFile(tools + name)) << name;
  }
}

TEST_F(Slurm, SurvivesRequeuesWarningsAndTheSubmittersDeath) {
  pid_t submitter = program_.Start(RunArguments());
  while (!HasPartial()) usleep(20000);
  // The node is needed for something else.
  EXPECT_TRUE(CaptureOutput({"scontrol", "requeue", RunningTask()}).ok());
  kill(submitter, SIGKILL);
  WaitFor(submitter);
  const ProgramResult status =
      OpensetProgram("elsewhere")
          .Run({"status", program_.folder() + "/study.textproto", "--store=" + program_.store()});
  EXPECT_THAT(status.out, HasSubstr("Slurm job "));
  submitter = program_.Start(RunArguments());
  // The time of a task is nearly up: its training saves its state, and it is queued again.
  std::string task;
  for (int waits = 0; waits < 3000 && task.empty(); ++waits) {
    usleep(20000);
    task = HasPartial() ? RunningTask() : "";
  }
  ASSERT_NE(task, "");
  EXPECT_TRUE(CaptureOutput({"scancel", "--batch", "--signal=USR1", task}).ok());
  EXPECT_EQ(WaitFor(submitter), 0) << program_.Read("out.txt") << program_.Read("err.txt");
  ExpectRecordsOfALocalRun();
}

TEST_F(Slurm, CanBeCancelledAndContinuedLocally) {
  std::vector<std::string> detached = RunArguments();
  detached.push_back("--detach");
  ASSERT_EQ(program_.Run(detached).exit_code, 0) << program_.Read("err.txt");
  while (!HasPartial()) usleep(20000);
  // The process that submits would submit tasks in the place of those that were cancelled.
  const pid_t submitter = program_.Start(RunArguments());
  const OpensetProgram elsewhere("elsewhere");
  const std::string study = program_.folder() + "/study.textproto";
  const std::string cluster = "--deploy=" + program_.folder() + "/cluster.textproto";
  const std::string name = absl::StrCat(", process ", submitter);
  while (!absl::StrContains(elsewhere.Run({"status", study, cluster, "--store=" + program_.store()}).out, name)) {
    usleep(20000);
  }
  const ProgramResult cancelled = elsewhere.Run({"cancel", study, cluster, "--store=" + program_.store()});
  EXPECT_EQ(cancelled.exit_code, 0) << cancelled.err;
  EXPECT_THAT(cancelled.out, AllOf(HasSubstr("asked to stop"), HasSubstr("cancelled")));
  EXPECT_EQ(WaitFor(submitter), 130);
  WaitForEmptyQueue();
  ASSERT_EQ(program_.Run({"run", "study.textproto"}).exit_code, 0);
  ExpectRecordsOfALocalRun();
}

}  // namespace
}  // namespace openset

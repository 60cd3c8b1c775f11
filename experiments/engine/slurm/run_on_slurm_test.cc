// By fake commands; tools/testing/slurm_test.cc has a real Slurm.
#include "experiments/engine/slurm/run_on_slurm.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "experiments/plan/planner.h"
#include "experiments/spec/expand.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Observer : public EngineObserver {
 public:
  void OnStart(int) override {}
  void OnProgress(int, const WorkProgress&) override {}
  void OnFinish(int node, const absl::Status& status) override {
    (status.ok() ? finished : failed).push_back(node);
    if (!status.ok()) messages.push_back(std::string(status.message()));
  }
  void OnSkip(int node) override { skipped.push_back(node); }
  void OnStartFailure(int, const absl::Status&) override {}
  void OnRetry(int, const absl::Status&, absl::Duration) override {}
  void OnElsewhere(int, const std::string&, bool) override {}
  void OnGrowth(const std::vector<int>&) override {}
  void OnTick() override {
    if (interrupt) kill(getpid(), SIGINT);
  }
  void Describe(RunState*) const override {}

  std::vector<int> finished, failed, skipped;
  std::vector<std::string> messages;
  bool interrupt = false;
};

// Makes empty results of the kind that its array says: the keys of an array stand in its file in order, one a task.
constexpr char kWork[] = R"SH(
file=$(printf '%s\n' "$@" | sed -n 's/^--slurm_task=//p')
store=$(dirname "$(dirname "$file")")
key=$(grep -aoE '[0-9a-f]{64}' "$file" | sed -n "$((SLURM_ARRAY_TASK_ID + 1))p")
echo "$SLURM_ARRAY_JOB_ID $key" >> "$store/executed"
if [ -e "$store/broken" ]; then exit 1; fi
ab=${key:0:2}
if grep -aq 'train, ' "$file"; then
  mkdir -p "$store/checkpoints/$ab/$key"
elif grep -aq 'infer, ' "$file"; then
  mkdir -p "$store/outputs/$ab/$key"
else
  mkdir -p "$store/records/$ab"
  touch "$store/records/$ab/$key.rec"
fi
)SH";

class RunOnSlurmTest : public ::testing::Test {
 protected:
  RunOnSlurmTest() : store_(sandbox_.folder() + "/store"), fake_(sandbox_.folder() + "/fake") {
    const std::string script = *RunfilesFolder() + "/openset/experiments/engine/slurm/testdata/fake_slurm.sh";
    const std::string bin = sandbox_.folder() + "/bin";
    std::filesystem::create_directories(bin);
    std::filesystem::create_directories(fake_);
    for (const char* name : {"sbatch", "squeue", "scontrol", "scancel", "sacct"}) {
      std::filesystem::create_symlink(script, JoinPath(bin, name));
    }
    setenv("PATH", absl::StrCat(bin, ":/usr/bin:/bin").c_str(), 1);
    setenv("FAKE_SLURM", fake_.c_str(), 1);
    sandbox_.Write("work.sh", kWork);
    options_.submit.experiment = "spec";
    options_.submit.command = {"/bin/bash", sandbox_.folder() + "/work.sh"};
    options_.submit.first_wait_seconds = 0.01;
    options_.poll = absl::Milliseconds(20);
  }

  Plan MakePlanOf(const std::string& seeds) const {
    const absl::StatusOr<Experiment> experiment = sandbox_.Load(
        absl::StrCat("name: 'spec' task: 'task' method: 'plain' split: 0 metric { accuracy {} } seed: [", seeds, "]"));
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    return MakePlan(*Expand(*experiment), store_, [](const Selection&) { return 1; });
  }

  absl::Status Run(const Plan& plan) {
    return RunOnSlurm(plan, /*choose=*/nullptr, store_, SlurmClient(), options_, &observer_);
  }

  void Set(const std::string& what, int count) const { std::ofstream(JoinPath(fake_, what)) << count; }
  std::vector<std::string> Lines(const std::string& path) const {
    return absl::StrSplit(ReadFile(path).value_or(""), '\n', absl::SkipEmpty());
  }
  std::vector<std::string> Submitted() const { return Lines(fake_ + "/submitted"); }
  // "JOB KEY", in the order of execution.
  std::vector<std::string> Executed() const { return Lines(store_.folder() + "/executed"); }

  const SpecSandbox sandbox_;
  const Store store_;
  const std::string fake_;
  SlurmRunOptions options_;
  Observer observer_;
};

TEST_F(RunOnSlurmTest, EachStepIsAnArrayAfterTheOneBeforeAndEachActionIsDoneOnce) {
  options_.submit.slurm.set_partition("gpu");
  options_.submit.slurm.add_option("--exclude=node7");
  options_.submit.slurm.add_prologue("test 1 -gt 0 && true 'quoted'");
  options_.memory.set_train_mb(500);
  ASSERT_TRUE(Run(MakePlanOf("0, 1, 2, 3, 4")).ok());
  EXPECT_THAT(observer_.finished, SizeIs(15));
  // MaxArraySize is 4: indices 0 to 2, of which five trainings take two arrays.
  const std::vector<std::string> submitted = Submitted();
  ASSERT_EQ(submitted.size(), 6);
  EXPECT_THAT(submitted[0], HasSubstr("--array=0-2 "));
  EXPECT_THAT(submitted[1], HasSubstr("--array=0-1 "));
  for (const char* option : {"--parsable", "--requeue", "--signal=B:USR1@120", "--cpus-per-task=1", "--mem=500M",
                             "--partition=gpu", "--exclude=node7"}) {
    EXPECT_THAT(submitted[0], HasSubstr(option));
  }
  EXPECT_FALSE(absl::StrContains(submitted[0], "--dependency"));
  EXPECT_THAT(submitted[2], HasSubstr("--dependency=afterany:1"));
  EXPECT_THAT(Executed(), SizeIs(15));
  const std::vector<SubmittedArray> arrays = ArraysInStore(store_, "spec");
  ASSERT_EQ(arrays.size(), 6);
  EXPECT_EQ(arrays[0].job, "1");
  EXPECT_EQ(arrays[0].array.description(), "train, 1 CPU, 500 MB");
}

TEST_F(RunOnSlurmTest, ALostAnswerSubmitsNothingTwice) {
  Set("lose_replies", 2);
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  EXPECT_THAT(Submitted(), SizeIs(3));
  EXPECT_THAT(Executed(), SizeIs(6));
}

TEST_F(RunOnSlurmTest, AControllerThatDoesNotAnswerIsAskedAgain) {
  Set("refuse", 2);
  Set("blind", 0);
  ASSERT_TRUE(Run(MakePlanOf("0")).ok());
  EXPECT_THAT(Submitted(), SizeIs(3 + 2));
  EXPECT_THAT(Executed(), SizeIs(3));
  Set("refuse", 100);
  EXPECT_THAT(std::string(Run(MakePlanOf("1")).message()), HasSubstr("Unable to contact slurm controller"));
}

TEST_F(RunOnSlurmTest, AMistakeIsSaidAtOnce) {
  Set("invalid", 1);
  EXPECT_THAT(std::string(Run(MakePlanOf("0")).message()), HasSubstr("invalid partition specified: nowhere"));
  EXPECT_THAT(Submitted(), SizeIs(1));
}

TEST_F(RunOnSlurmTest, WhatDiedIsSubmittedAgain) {
  Set("kill", 1);
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  EXPECT_THAT(observer_.finished, SizeIs(6));
  EXPECT_GE(Submitted().size(), 3 + 1);
  for (const PlanNode& node : MakePlanOf("0, 1").nodes) EXPECT_TRUE(node.done);
}

TEST_F(RunOnSlurmTest, WhatDiesAgainAndAgainFailsAndSkipsWhatDependsOnIt) {
  std::filesystem::create_directories(store_.folder());
  std::ofstream(store_.folder() + "/broken") << "";
  options_.retries = 1;
  const Plan plan = MakePlanOf("0");
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.failed, ElementsAre(0));
  EXPECT_THAT(observer_.skipped, SizeIs(2));
  EXPECT_THAT(observer_.messages[0], HasSubstr("ended without a result, 2 times"));
}

TEST_F(RunOnSlurmTest, WhatATaskRecordsAsFailedIsNotTriedAgain) {
  const Plan plan = MakePlanOf("0");
  sandbox_.Write("work.sh", "exit 1");
  options_.detach = true;
  ASSERT_TRUE(Run(plan).ok());
  options_.detach = false;
  options_.retries = 1000000;
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_key(plan.nodes[0].key);
  failure.set_message("the training diverged");
  failure.set_code(static_cast<int>(absl::StatusCode::kAborted));
  // While the run watches: the count of failures is what tells.
  bool written = false;
  class Watcher : public Observer {
   public:
    explicit Watcher(std::function<void()> act) : act_(std::move(act)) {}
    void OnTick() override { act_(); }

   private:
    std::function<void()> act_;
  };
  Watcher watcher([&] {
    if (written) return;
    EXPECT_TRUE(store_.WriteFailure(failure).ok());
    written = true;
  });
  EXPECT_EQ(RunOnSlurm(plan, nullptr, store_, SlurmClient(), options_, &watcher),
            absl::AbortedError("1 action failed"));
  EXPECT_THAT(watcher.messages, ElementsAre("the training diverged"));
}

TEST_F(RunOnSlurmTest, ItMayLeaveAndComeBackWithoutSubmittingTwice) {
  options_.detach = true;
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  EXPECT_THAT(observer_.finished, IsEmpty());
  options_.detach = false;
  const Plan plan = MakePlanOf("0, 1");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Submitted(), SizeIs(3));
  EXPECT_THAT(Executed(), SizeIs(6));
}

TEST_F(RunOnSlurmTest, ASignalEndsTheWatchingOnly) {
  observer_.interrupt = true;
  const absl::Duration poll = std::exchange(options_.poll, absl::Hours(1));  // tasks may be done before the signal
  const absl::Status status = Run(MakePlanOf("0"));
  options_.poll = poll;
  EXPECT_TRUE(absl::IsCancelled(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("are left to Slurm ('openset cancel' takes them back)"));
  observer_.interrupt = false;
  ASSERT_TRUE(Run(MakePlanOf("0")).ok());
  EXPECT_THAT(Submitted(), SizeIs(3));
}

TEST_F(RunOnSlurmTest, WithoutSlurmItSaysSo) {
  setenv("PATH", "/nowhere", 1);
  const absl::Status status = Run(MakePlanOf("0"));
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot start squeue"));
}

}  // namespace
}  // namespace openset

// Uses fake commands; tools/testing/slurm/slurm_test.cc uses a real Slurm.

#include "experiments/engine/slurm/slurm_pilots.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "experiments/engine/slurm/program_copy.h"
#include "experiments/testing/fake_slurm_scene.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SlurmPilotsTest : public FakeSlurm {};

TEST_F(SlurmPilotsTest, OneArrayOfPilotsDoesEachActionOnce) {
  options_.submit.slurm.set_partition("gpu");
  options_.submit.slurm.add_option("--exclude=node7");
  options_.submit.slurm.add_prologue("test 1 -gt 0 && true 'quoted'");
  options_.memory.set_train_mb(500);
  ASSERT_TRUE(Run(MakePlanOf("0, 1, 2, 3, 4")).ok());
  EXPECT_THAT(observer_.finished, SizeIs(15));
  // MaxArraySize is 4: indices 0 to 2.
  const std::vector<std::string> submitted = Submitted();
  ASSERT_EQ(submitted.size(), 1);
  EXPECT_THAT(submitted[0], HasSubstr("--array=0-2 "));
  for (const char* option : {"--parsable", "--requeue", "--signal=B:USR1@120", "--cpus-per-task=1", "--mem=500M",
                             "--partition=gpu", "--exclude=node7"}) {
    EXPECT_THAT(submitted[0], HasSubstr(option));
  }
  EXPECT_FALSE(absl::StrContains(submitted[0], "--dependency"));
  EXPECT_FALSE(absl::StrContains(submitted[0], "--gres"));
  EXPECT_THAT(Executed(), SizeIs(15));
  const std::vector<SubmittedArray> arrays = ArraysInStore(store_, "spec");
  ASSERT_EQ(arrays.size(), 1);
  EXPECT_EQ(arrays[0].job, "1");
  EXPECT_EQ(arrays[0].array.description(), "pilots, 1 CPU, 500 MB");
}

TEST_F(SlurmPilotsTest, PilotsAreLimitedByTheWorkAndTheOption) {
  Set("hold", 1);
  Set("max_array", 1001);
  Detach();
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  ASSERT_THAT(Submitted(), SizeIs(1));
  EXPECT_THAT(Submitted()[0], HasSubstr("--array=0-1 "));
  // There is more work, but two pilots are already queued.
  ASSERT_TRUE(Run(MakePlanOf(Range(9))).ok());
  ASSERT_THAT(Submitted(), SizeIs(2));
  EXPECT_THAT(Submitted()[1], HasSubstr("--array=0-6 "));
  options_.most = 12;
  ASSERT_TRUE(Run(MakePlanOf(Range(50))).ok());
  ASSERT_THAT(Submitted(), SizeIs(3));
  EXPECT_THAT(Submitted()[2], HasSubstr("--array=0-2 "));
  ASSERT_TRUE(Run(MakePlanOf(Range(60))).ok());
  EXPECT_THAT(Submitted(), SizeIs(3));
}

TEST_F(SlurmPilotsTest, SubmitsFewerJobsAtTheClustersLimit) {
  Set("limit", 3);
  Set("max_array", 1001);
  ASSERT_TRUE(Run(MakePlanOf(Range(10))).ok());
  const std::vector<std::string> submitted = Submitted();
  ASSERT_GE(submitted.size(), 3);
  EXPECT_THAT(submitted[0], HasSubstr("--array=0-9 "));
  EXPECT_THAT(submitted[1], HasSubstr("--array=0-4 "));
  EXPECT_THAT(submitted[2], HasSubstr("--array=0-2 "));
  EXPECT_THAT(Executed(), SizeIs(30));
  WaitForEmptyQueue();
  Set("limit", 0);  // accepts none
  EXPECT_THAT(std::string(Run(MakePlanOf("10")).message()), HasSubstr("QOSMaxSubmitJobPerUserLimit"));
}

TEST_F(SlurmPilotsTest, APercentSignInTheStoresPathStaysOne) {
  const Store store(sandbox_.folder() + "/100%j");
  Set("hold", 1);
  Detach();
  ASSERT_TRUE(RunOn(store, PlanInSandbox(sandbox_, store, "seed: 0"), &observer_).ok());
  const std::vector<std::string> submitted = Submitted();
  ASSERT_FALSE(submitted.empty());
  EXPECT_THAT(submitted[0], HasSubstr("/100%%j/"));
  EXPECT_THAT(submitted[0], HasSubstr("/%x.%a.log "));
  EXPECT_FALSE(absl::StrContains(submitted[0], absl::StrCat("--output=", store.folder())));
}

TEST_F(SlurmPilotsTest, ALostAnswerSubmitsNothingTwice) {
  Set("lose_replies", 1);
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  EXPECT_THAT(Submitted(), SizeIs(1));
  EXPECT_THAT(Executed(), SizeIs(6));
}

TEST_F(SlurmPilotsTest, RetriesAControllerThatDoesNotAnswer) {
  Set("refuse", 2);
  Set("blind", 0);
  ASSERT_TRUE(Run(MakePlanOf("0")).ok());
  EXPECT_THAT(Submitted(), SizeIs(1 + 2));
  EXPECT_THAT(Executed(), SizeIs(3));
  Set("refuse", 100);
  EXPECT_THAT(std::string(Run(MakePlanOf("1")).message()), HasSubstr("Unable to contact slurm controller"));
}

TEST_F(SlurmPilotsTest, PermanentErrorsAreReportedAtOnce) {
  Set("invalid", 1);
  EXPECT_THAT(std::string(Run(MakePlanOf("0")).message()), HasSubstr("invalid partition specified: nowhere"));
  EXPECT_THAT(Submitted(), SizeIs(1));
}

TEST_F(SlurmPilotsTest, DeadPilotsAreReplaced) {
  Set("kill", 2);
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  EXPECT_THAT(observer_.finished, SizeIs(6));
  EXPECT_THAT(Submitted(), SizeIs(2));
  for (const Action& action : MakePlanOf("0, 1").actions) EXPECT_TRUE(action.is_done());
}

TEST_F(SlurmPilotsTest, EndedActionsCountAsProgress) {
  Set("share", 1);  // each dies at its second action
  options_.retries = 0;
  ASSERT_TRUE(Run(MakePlanOf("0")).ok());
  EXPECT_THAT(Submitted(), SizeIs(3));
  EXPECT_THAT(Executed(), SizeIs(3));
}

TEST_F(SlurmPilotsTest, RequeuedPilotsAreNotSubmittedAgain) {
  Set("requeue", 2);
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  EXPECT_THAT(Submitted(), SizeIs(1));
  EXPECT_GE(Begun().size(), 2);
  EXPECT_THAT(Executed(), SizeIs(6));
  EXPECT_EQ(Lines(fake_ + "/restarts").front(), "1");  // SLURM_RESTART_COUNT
}

TEST_F(SlurmPilotsTest, RepeatedDeathsFailTheActionAndSkipItsDependents) {
  std::filesystem::create_directories(store_.folder());
  std::ofstream(store_.folder() + "/broken") << "";
  options_.retries = 1;
  const Plan plan = MakePlanOf("0");
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.failed, ElementsAre(ActionId{0}));
  EXPECT_THAT(observer_.skipped, SizeIs(2));
  EXPECT_THAT(observer_.messages[0], HasSubstr("ended without a result, 2 times"));
  EXPECT_THAT(Submitted(), SizeIs(2));
  EXPECT_EQ(*store_.CountFailures(plan.actions[0].key), 1);
  // The next run tries again.
  std::filesystem::remove(store_.folder() + "/broken");
  EXPECT_TRUE(Run(MakePlanOf("0")).ok());
}

// One process submits, another watches.
TEST_F(SlurmPilotsTest, TheJobOfAnotherProcessIsNamed) {
  Set("hold", 1);
  Set("lag", 0);  // there is accounting
  options_.retries = 0;
  const Plan plan = MakePlanOf("0");
  SlurmClient client;
  LeftWork left;
  left.open = {ActionId{0}};
  SlurmPilots submits(plan, store_, client, options_, nullptr), watches(plan, store_, client, options_, nullptr);
  ASSERT_THAT(submits.Find(left).value(), IsEmpty());
  ASSERT_THAT(watches.Find(left).value(), IsEmpty());
  ASSERT_THAT(Submitted(), SizeIs(1));
  ASSERT_TRUE(client.Cancel({"1"}).ok());
  std::ofstream(fake_ + "/ended/1_0") << "CANCELLED";
  ASSERT_THAT(watches.Find(left).value(), IsEmpty());
  const std::map<ActionId, absl::Status> given_up = watches.Find(left).value();
  ASSERT_THAT(given_up, SizeIs(1));
  EXPECT_EQ(given_up.at(ActionId{0}), absl::UnavailableError(absl::StrCat(
                                          "its Slurm job 1 (CANCELLED) ended without a result, 1 time; its output "
                                          "is in ",
                                          store_.folder(), "/slurm/logs")));
}

TEST_F(SlurmPilotsTest, FailuresThatAPilotRecordedAreNotRetried) {
  const Plan plan = MakePlanOf("0");
  sandbox_.Write("work.sh", "exit 1");
  Detach();
  ASSERT_TRUE(Run(plan).ok());
  Watch();
  options_.retries = 1000000;
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_key(plan.actions[0].key);
  failure.set_message("the training diverged");
  failure.set_code(static_cast<int>(absl::StatusCode::kAborted));
  // While the run watches, it notices by the count of failures.
  bool written = false;
  class Watcher : public SlurmObserver {
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
  EXPECT_EQ(RunOn(store_, plan, &watcher), absl::AbortedError("1 action failed"));
  EXPECT_THAT(watcher.messages, ElementsAre("the training diverged"));
}

TEST_F(SlurmPilotsTest, ALauncherThatReturnsSubmitsNothingTwice) {
  Set("wait", 1);
  Detach();
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  EXPECT_THAT(observer_.finished, IsEmpty());
  Watch();
  observer_.on_tick = [this] { std::filesystem::remove(fake_ + "/wait"); };
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  EXPECT_THAT(Submitted(), SizeIs(1));
  EXPECT_THAT(Executed(), SizeIs(6));
}

TEST_F(SlurmPilotsTest, ASignalEndsOnlyTheLauncher) {
  Set("wait", 1);
  observer_.interrupt = true;
  EXPECT_TRUE(absl::IsCancelled(Run(MakePlanOf("0"))));
  observer_.interrupt = false;
  observer_.on_tick = [this] { std::filesystem::remove(fake_ + "/wait"); };
  ASSERT_TRUE(Run(MakePlanOf("0")).ok());
  EXPECT_THAT(Submitted(), SizeIs(1));
}

TEST_F(SlurmPilotsTest, ReportsMissingSlurm) {
  setenv("PATH", "/nowhere", 1);
  const absl::Status status = Run(MakePlanOf("0"));
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot start squeue"));
}

// Runs a copy of a program that consists of two files.
class CopiedProgramTest : public FakeSlurm {
 protected:
  CopiedProgramTest() {
    WriteProgram(kWork);
    Copy();
  }

  // The built program.
  void WriteProgram(const std::string& work) const {
    sandbox_.Write("files/openset/tools/program", "#!/bin/bash\n. \"${0%/*}/work.sh\"\n");
    sandbox_.Write("files/openset/tools/work.sh", work);
    std::filesystem::permissions(program_, std::filesystem::perms::owner_exec, std::filesystem::perm_options::add);
  }

  void Copy() {
    const absl::StatusOr<ProgramCopy> copy =
        CopyProgram(store_, sandbox_.folder() + "/files", std::filesystem::canonical(program_).string());
    ASSERT_TRUE(copy.ok()) << copy.status();
    options_.submit.program = *copy;
    options_.submit.command = {copy->program};
  }

  // Submits, and holds jobs back until Release().
  void SubmitAndHold(const std::string& seeds) {
    Set("wait", 1);
    Detach();
    EXPECT_TRUE(Run(MakePlanOf(seeds)).ok());
    Watch();
  }
  void Release() const { std::filesystem::remove(fake_ + "/wait"); }

  const std::string program_ = sandbox_.folder() + "/files/openset/tools/program";
};

TEST_F(CopiedProgramTest, RunsTheSubmittedProgramDespiteRebuilds) {
  SubmitAndHold("0, 1");
  EXPECT_THAT(*ProgramsInUse(store_), ElementsAre(options_.submit.program.sha256));
  WriteProgram("echo another >> \"$FAKE_SLURM/another\"");
  Release();
  EXPECT_TRUE(Run(MakePlanOf("0, 1")).ok());
  EXPECT_THAT(Submitted(), SizeIs(1));
  EXPECT_THAT(Executed(), SizeIs(6));
  EXPECT_EQ(ReadFile(fake_ + "/log").value_or("?"), "");
  EXPECT_FALSE(FileExists(fake_ + "/another"));
  EXPECT_THAT(*ProgramsInUse(store_), IsEmpty());
  WaitForEmptyQueue();
  // Without a copy, the rebuilt program would have run.
  options_.submit.program = {};
  options_.submit.command = {program_};
  options_.retries = 0;
  EXPECT_EQ(Run(MakePlanOf("2")), absl::AbortedError("1 action failed"));
  EXPECT_TRUE(FileExists(fake_ + "/another"));
}

TEST_F(CopiedProgramTest, ACorruptCopyIsRefusedAndReplaced) {
  SubmitAndHold("0");
  const std::string folder = options_.submit.program.folder;
  std::ofstream(folder + "/program.runfiles/openset/tools/work.sh", std::ios::app) << "# damage";
  Release();
  const absl::Status status = Run(MakePlanOf("0"));
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  const std::string named =
      folder +
      ": program.runfiles/openset/tools/work.sh: FAILED: the copied program has changed since it was submitted";
  EXPECT_THAT(std::string(status.message()), HasSubstr(named));
  EXPECT_THAT(ReadFile(fake_ + "/log").value_or(""), HasSubstr(named));
  EXPECT_THAT(Begun(), IsEmpty());
  Copy();
  EXPECT_EQ(options_.submit.program.folder, folder);
  EXPECT_TRUE(Run(MakePlanOf("0")).ok());
  EXPECT_THAT(Executed(), SizeIs(3));
}

TEST_F(CopiedProgramTest, TheEnvironmentRefersToNoFilesOfTheOriginal) {
  WriteProgram("echo \"$RUNFILES_DIR$TEST_SRCDIR\" >> \"$FAKE_SLURM/seen\"");
  Copy();
  setenv("RUNFILES_DIR", "/original", 1);
  options_.retries = 0;
  EXPECT_EQ(Run(MakePlanOf("0")), absl::AbortedError("1 action failed"));
  unsetenv("RUNFILES_DIR");
  EXPECT_TRUE(FileExists(fake_ + "/seen"));
  EXPECT_THAT(Lines(fake_ + "/seen"), IsEmpty());
}

TEST_F(CopiedProgramTest, ArraysOlderThanAMonthUseNoPrograms) {
  Set("hold", 1);
  Detach();
  ASSERT_TRUE(Run(MakePlanOf("0")).ok());
  EXPECT_THAT(*ProgramsInUse(store_), SizeIs(1));
  for (const auto& entry : std::filesystem::directory_iterator(store_.folder() + "/slurm")) {
    std::filesystem::last_write_time(entry.path(),
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(31 * 24));
  }
  EXPECT_THAT(*ProgramsInUse(store_), IsEmpty());
}

// Launchers and pilots on different seats, working on one plan.

// Jobs stay pending: a process of the test acts as the pilot.
class SlurmSeatsTest : public FakeSlurm {
 protected:
  SlurmSeatsTest() {
    Set("hold", 1);
    execute_.look = absl::Milliseconds(1);
    engine_.capacity_of.gpus = {0};
    engine_.on_end = [this](const std::string& key) { Make(key); };
  }

  Plan GpuPlan(const std::string& more) {
    plan_ = PlanInSandbox(sandbox_, store_, "execution { device: CUDA device_kind: 'x' } " + more);
    return plan_;
  }

  // The result that the engine's worker stores.
  void Make(const std::string& key) const {
    const auto action = std::find_if(plan_.actions.begin(), plan_.actions.end(),
                                     [&key](const Action& candidate) { return candidate.key == key; });
    ASSERT_NE(action, plan_.actions.end());
    const std::string path = StageOf(*action).ResultPath(store_, key);
    if (action->kind == ActionKind::kEvaluate) {
      ASSERT_TRUE(MakeFolders(path.substr(0, path.rfind('/'))).ok());
      std::ofstream(path) << "";
    } else {
      ASSERT_TRUE(MakeFolders(path).ok());
    }
  }

  // Runs a pilot on a seat of this kind, for the launch in its array's file.
  absl::Status Fly(const Plan& plan, bool gpu) {
    const std::vector<SubmittedArray> arrays = ArraysInStore(store_, "spec");
    EXPECT_FALSE(arrays.empty());
    const absl::StatusOr<PilotOptions> options = OptionsOfPilot(store_, arrays[0].array, options_);
    EXPECT_TRUE(options.ok()) << options.status();
    ExecuteOptions execute = execute_;
    BePilot(plan, SeatFor(plan, gpu, {}, {}), *options, absl::Milliseconds(50), &execute);
    SlurmClient client;
    SlurmPilots pilots(plan, store_, client, *options, /*observer=*/nullptr);
    execute.helpers = &pilots;
    const auto leases = Leases::Begin(store_);
    execute.leases = leases->get();
    return ExecutePlan(plan, NoChoice, store_, execute, &engine_, &observer_);
  }

  std::vector<std::string> Kinds() const {
    std::vector<std::string> kinds;
    for (const WorkRequest& request : engine_.started) {
      kinds.push_back(request.has_train() ? "train" : request.has_infer() ? "infer" : "evaluate");
    }
    return kinds;
  }

  void Launch() {
    Detach();
    ASSERT_TRUE(Run(GpuPlan("seed: [0, 1]")).ok());
    Watch();
    ASSERT_THAT(Submitted(), SizeIs(1));
  }

  Plan plan_;
};

TEST_F(SlurmSeatsTest, SubmitsOnlyPilotsForOpenWork) {
  Launch();  // the evaluations wait for the trainings
  EXPECT_THAT(Submitted()[0], HasSubstr("--gres=gpu:1"));
  EXPECT_THAT(Submitted()[0], HasSubstr("--cpus-per-task=4"));
  EXPECT_THAT(Submitted()[0], HasSubstr("--array=0-1 "));
  EXPECT_EQ(ArraysInStore(store_, "spec")[0].array.description(), "pilots, 1 GPU, 4 CPUs");
}

TEST_F(SlurmSeatsTest, AGpuPilotDoesUnclaimedCpuActionsBeforeItEnds) {
  Launch();
  EXPECT_TRUE(Fly(plan_, /*gpu=*/true).ok());
  EXPECT_THAT(Kinds(), ElementsAre("train", "infer", "train", "infer", "evaluate", "evaluate"));
  EXPECT_THAT(Submitted(), SizeIs(1));
}

TEST_F(SlurmSeatsTest, ACpuPilotSubmitsGpuPilotsAndEnds) {
  Launch();
  std::filesystem::remove_all(fake_ + "/queue");  // these pilots have ended
  std::filesystem::create_directories(fake_ + "/queue");
  EXPECT_TRUE(Fly(plan_, /*gpu=*/false).ok());
  EXPECT_THAT(Kinds(), IsEmpty());
  ASSERT_THAT(Submitted(), SizeIs(2));
  EXPECT_THAT(Submitted()[1], HasSubstr("--gres=gpu:1"));
  EXPECT_TRUE(Fly(plan_, /*gpu=*/false).ok());  // the next pilot finds them in the queue
  EXPECT_THAT(Submitted(), SizeIs(2));
}

TEST_F(SlurmSeatsTest, ACpuPilotDoesRemainingCpuActions) {
  Launch();
  for (const Action& action : plan_.actions) {
    if (action.kind != ActionKind::kEvaluate) Make(action.key);
  }
  EXPECT_TRUE(Fly(GpuPlan("seed: [0, 1]"), /*gpu=*/false).ok());
  EXPECT_THAT(Kinds(), ElementsAre("evaluate", "evaluate"));
  EXPECT_THAT(Submitted(), SizeIs(1));
}

TEST_F(SlurmSeatsTest, FailuresSinceTheLaunchAreNotRetried) {
  Launch();
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_key(plan_.actions[0].key);
  failure.set_code(static_cast<int>(absl::StatusCode::kAborted));
  failure.set_message("it diverged");
  ASSERT_TRUE(store_.WriteFailure(failure).ok());
  EXPECT_EQ(Fly(plan_, /*gpu=*/true), absl::AbortedError("1 action failed"));
  EXPECT_THAT(Kinds(), ElementsAre("train", "infer", "evaluate"));
  EXPECT_EQ(*store_.CountFailures(plan_.actions[0].key), 1);
}

TEST_F(SlurmSeatsTest, FailuresBeforeTheLaunchAreRetried) {
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_key(GpuPlan("seed: [0, 1]").actions[0].key);
  failure.set_message("it diverged");
  ASSERT_TRUE(store_.WriteFailure(failure).ok());
  Launch();
  EXPECT_TRUE(Fly(plan_, /*gpu=*/true).ok());
  EXPECT_THAT(Kinds(), SizeIs(6));
}

// A pilot's command, without the arguments that TaskScript() appended, is the command of the pilots that it submits.
TEST_F(SlurmSeatsTest, PilotsSubmittedByPilotsHaveTheOriginalCommand) {
  Launch();
  const SlurmArray array = ArraysInStore(store_, "spec")[0].array;
  options_.submit.command = {"program", "run", "a spec"};
  std::vector<std::string> words = {"program", "run", "a spec"};
  const std::string script = TaskScript(options_.submit, array.seat(), "/array.rec");
  const std::vector<std::string> quoted = absl::StrSplit(script.substr(script.find("exec ")), "' '");
  ASSERT_EQ(quoted.size(), words.size() + kPilotFlags);
  words.insert(words.end(), quoted.begin() + 3, quoted.end());
  options_.submit.command = words;
  const absl::StatusOr<PilotOptions> options = OptionsOfPilot(store_, array, options_);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->submit.command, ElementsAre("program", "run", "a spec"));
  EXPECT_EQ(options->submit.launch, array.launch());
}

}  // namespace
}  // namespace openset

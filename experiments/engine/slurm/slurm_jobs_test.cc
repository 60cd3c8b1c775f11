#include "experiments/engine/slurm/slurm_jobs.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/record_file.h"
#include "core/testing/status_matchers.h"
#include "experiments/action/stage.h"
#include "experiments/testing/fake_slurm_scene.h"

namespace openset {
namespace {

TEST(SlurmClient, ReadsTheQueue) {
  // Output of squeue of Slurm 22.05; a job that is not an array has the index N/A, and any name.
  const auto queue =
      ParseQueue("a|12|0|RUNNING\na|12|1|PENDING\na|12|1|PENDING\n  b|13|7|COMPLETING\n|c|14|N/A|RUNNING\n");
  ASSERT_TRUE(queue.ok()) << queue.status();
  ASSERT_EQ(queue->size(), 3);
  EXPECT_EQ(queue->at(0).array, "a");
  EXPECT_EQ(queue->at(0).job, "12");
  EXPECT_EQ(queue->at(1).state, "PENDING");
  EXPECT_EQ(queue->at(2).array, "b");
  EXPECT_TRUE(ParseQueue("")->empty());
  EXPECT_TRUE(absl::IsUnavailable(ParseQueue("slurm_load_jobs error").status()));
}

// These errors must not count as failures of an action.
TEST(SlurmClient, ErrorsAreOneLine) {
  const std::string folder = ::testing::TempDir() + "/bin";
  std::filesystem::create_directories(folder);
  const auto install = [&](const std::string& name, const std::string& script) {
    std::ofstream(folder + "/" + name) << "#!/bin/sh\n" << script << " >&2\nexit 1\n";
    std::filesystem::permissions(folder + "/" + name, std::filesystem::perms::owner_all);
  };
  install("squeue", "printf 'error: Unable to\\nfatal: contact slurm controller\\n'");
  install("sbatch", "echo error: invalid partition");
  setenv("PATH", folder.c_str(), 1);
  EXPECT_EQ(SlurmClient().Queue().status(),
            absl::UnavailableError("squeue exited with 1: error: Unable to fatal: contact slurm controller"));
  EXPECT_EQ(SlurmClient().Submit({}, "script").status(),
            absl::FailedPreconditionError("sbatch exited with 1: error: invalid partition"));
  EXPECT_TRUE(absl::IsNotFound(SlurmClient().Cancel({"1"})));  // no scancel
}

TEST(SlurmClient, ReadsTheAccounts) {
  EXPECT_EQ(ParseAccounts("12.batch|COMPLETED\n12_1|CANCELLED by 0\n12_[2-9]|PENDING\n15|FAILED\n"), "12 (CANCELLED)");
  EXPECT_EQ(ParseAccounts("12_0.batch|COMPLETED\n15|FAILED\n"), "");
}

namespace fs = std::filesystem;

constexpr char kName[] = "openset-study-0123-abcdef-0000";

// Files that other users may have put into slurm/ of a store.
class SlurmJobsTest : public ::testing::Test {
 protected:
  SlurmJobsTest()
      : store_(JoinPath(testing::TempDir(), testing::UnitTest::GetInstance()->current_test_info()->name())),
        base_(absl::StrCat(store_.folder(), "/slurm/", kName)) {
    fs::remove_all(store_.folder());
    fs::create_directories(store_.folder() + "/slurm");
  }

  static SlurmArray Sound() {
    SlurmArray array;
    array.set_name(kName);
    array.set_experiment("study");
    array.set_program(std::string(64, 'a'));
    array.add_record(std::string(64, 'b'));
    array.set_tasks(2);
    array.mutable_seat()->set_cpus(1);
    return array;
  }

  void Put(const SlurmArray& array) const {
    ASSERT_THAT(WriteFileAtomically(base_ + ".rec", EncodeRecord(array)), IsOk());
  }

  const Store store_;
  const std::string base_;
};

TEST_F(SlurmJobsTest, FindsArraysThatSlurmRunWrote) {
  Put(Sound());
  ASSERT_THAT(ArraysInStore(store_, "study"), SizeIs(1));
  EXPECT_EQ(ArraysInStore(store_, "study")[0].tasks(), 2);
  EXPECT_THAT(ArraysInStore(store_, "other"), IsEmpty());
  EXPECT_THAT(*ProgramsInUse(store_), ElementsAre(std::string(64, 'a')));
}

TEST_F(SlurmJobsTest, SkipsArraysThatItCannotHaveWritten) {
  const std::vector<std::function<void(SlurmArray*)>> forgeries = {
      [](SlurmArray* array) { array->set_name("openset-study-0123-abcdef-0001"); },
      [](SlurmArray* array) { array->clear_name(); },
      [](SlurmArray* array) { array->add_record("../../../etc/passwd"); },
      [](SlurmArray* array) { array->add_failed_before("../../../etc/passwd"); },
      [](SlurmArray* array) { array->set_tasks(0); },
      [](SlurmArray* array) { array->set_tasks(2000000000); },
      [](SlurmArray* array) { array->mutable_seat()->set_cpus(-1); },
      [](SlurmArray* array) { array->mutable_seat()->set_memory_mb(-1); },
      [](SlurmArray* array) { array->set_program("../../bin"); }};
  for (size_t f = 0; f < forgeries.size(); ++f) {
    SlurmArray array = Sound();
    forgeries[f](&array);
    Put(array);
    EXPECT_THAT(ArraysInStore(store_, "study"), IsEmpty()) << f;
    EXPECT_THAT(*ProgramsInUse(store_), IsEmpty()) << f;
  }
  // A user's own job, which 'openset cancel' would end.
  SlurmArray array = Sound();
  array.set_name("my-simulation");
  ASSERT_THAT(WriteFileAtomically(store_.folder() + "/slurm/my-simulation.rec", EncodeRecord(array)), IsOk());
  EXPECT_THAT(ArraysInStore(store_, "study"), IsEmpty());
}

TEST_F(SlurmJobsTest, SkipsEntriesThatAreNotFiles) {
  ASSERT_EQ(mkfifo((base_ + ".rec").c_str(), 0666), 0);
  EXPECT_THAT(ArraysInStore(store_, "study"), IsEmpty());
  fs::remove(base_ + ".rec");
  Put(Sound());
  fs::resize_file(base_ + ".rec", int64_t{1} << 40);
  EXPECT_THAT(ArraysInStore(store_, "study"), IsEmpty());
}

TEST(TimeHint, IsGivenIfLessThanHalfOfTheTimeIsForWork) {
  SlurmSpec slurm;
  slurm.set_warning_seconds(120);
  // 300 - 120 - 60 = 120 seconds of 300; 360 seconds leave 180.
  for (const char* short_time : {"00:05:00", "5", "5:59", "0-00:05", "1"}) {
    slurm.set_time(short_time);
    EXPECT_THAT(TimeHint(slurm), HasSubstr(absl::StrCat("hint: slurm.time ", short_time, " leaves a task ")));
  }
  slurm.set_time("00:05:00");
  EXPECT_THAT(TimeHint(slurm), HasSubstr(" leaves a task 120 seconds for work before"));
  for (const char* time :
       {"00:06:00", "6", "6:00", "0-1", "0-00:06", "1-00:00:00", "08:00:00", "UNLIMITED", "", "a:b"}) {
    slurm.set_time(time);
    EXPECT_EQ(TimeHint(slurm), "") << time;
  }
}

TEST(TaskScript, RunsOnItsSeat) {
  SlurmOptions options;
  options.command = {"program", "run", "a spec"};
  SlurmArray array;
  array.set_name(kName);
  array.set_tasks(3);
  array.mutable_seat()->set_gpu(true);
  array.mutable_seat()->set_cpus(6);
  const std::string script = TaskScript(options, {}, array.seat(), "/array.rec");
  EXPECT_THAT(script, HasSubstr("exec 'program' 'run' 'a spec' '--engine=local' '--jobs=6' "
                                "'--devices=cuda:0' '--slurm_task=/array.rec'"));
  EXPECT_THAT(SbatchOptions({}, array, "/logs"),
              testing::IsSupersetOf({"--cpus-per-task=6", "--gres=gpu:1", "--array=0-2"}));
  array.mutable_seat()->set_gpu(false);
  EXPECT_THAT(TaskScript(options, {}, array.seat(), "/array.rec"), HasSubstr("'--devices=cpu'"));
  setenv("OPENSET_PYTHON", "/venv/bin/python", 1);
  EXPECT_THAT(TaskScript(options, {}, array.seat(), "/array.rec"),
              HasSubstr("\nexport OPENSET_PYTHON='/venv/bin/python'\n"));
  unsetenv("OPENSET_PYTHON");
}

// With fake commands; tools/testing/slurm/slurm_test.cc uses a real Slurm.
class SlurmRunTest : public FakeSlurm {};

TEST_F(SlurmRunTest, OneArrayDoesEachActionOnce) {
  options_.deploy.mutable_slurm()->set_partition("gpu");
  options_.deploy.mutable_slurm()->add_option("--exclude=node7");
  options_.deploy.mutable_slurm()->add_prologue("test 1 -gt 0 && true 'quoted'");
  options_.deploy.mutable_memory()->set_train_mb(500);
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
  const std::vector<SlurmArray> arrays = ArraysInStore(store_, "spec");
  ASSERT_EQ(arrays.size(), 1);
  EXPECT_EQ(DescribeSeat(arrays[0].seat()), "1 CPU, 500 MB");
}

TEST_F(SlurmRunTest, TasksAreLimitedByTheWorkAndTheOption) {
  Set("hold", 1);
  Set("max_array", 1001);
  Detach();
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  ASSERT_THAT(Submitted(), SizeIs(1));
  EXPECT_THAT(Submitted()[0], HasSubstr("--array=0-1 "));
  // There is more work, but two tasks are already queued.
  ASSERT_TRUE(Run(MakePlanOf(Range(9))).ok());
  ASSERT_THAT(Submitted(), SizeIs(2));
  EXPECT_THAT(Submitted()[1], HasSubstr("--array=0-6 "));
  options_.deploy.mutable_slurm()->set_tasks(12);
  ASSERT_TRUE(Run(MakePlanOf(Range(50))).ok());
  ASSERT_THAT(Submitted(), SizeIs(3));
  EXPECT_THAT(Submitted()[2], HasSubstr("--array=0-2 "));
  ASSERT_TRUE(Run(MakePlanOf(Range(60))).ok());
  EXPECT_THAT(Submitted(), SizeIs(3));
}

TEST_F(SlurmRunTest, SubmitsFewerJobsAtTheClustersLimit) {
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

TEST_F(SlurmRunTest, APercentSignInTheStoresPathStaysOne) {
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

TEST_F(SlurmRunTest, ALostAnswerSubmitsNothingTwice) {
  Set("lose_replies", 1);
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  EXPECT_THAT(Submitted(), SizeIs(1));
  EXPECT_THAT(Executed(), SizeIs(6));
}

TEST_F(SlurmRunTest, RetriesAControllerThatDoesNotAnswer) {
  Set("refuse", 2);
  Set("blind", 0);
  ASSERT_TRUE(Run(MakePlanOf("0")).ok());
  EXPECT_THAT(Submitted(), SizeIs(1 + 2));
  EXPECT_THAT(Executed(), SizeIs(3));
  Set("refuse", 100);
  EXPECT_THAT(std::string(Run(MakePlanOf("1")).message()), HasSubstr("Unable to contact slurm controller"));
}

TEST_F(SlurmRunTest, PermanentErrorsAreReportedAtOnce) {
  Set("invalid", 1);
  EXPECT_THAT(std::string(Run(MakePlanOf("0")).message()), HasSubstr("invalid partition specified: nowhere"));
  EXPECT_THAT(Submitted(), SizeIs(1));
}

TEST_F(SlurmRunTest, DeadTasksAreReplaced) {
  Set("kill", 2);
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  EXPECT_THAT(observer_.finished, SizeIs(6));
  // A poll between the two deaths submits one task.
  EXPECT_THAT(Submitted(), SizeIs(AnyOf(2, 3)));
  for (const Action& action : MakePlanOf("0, 1").actions) EXPECT_TRUE(action.is_done());
}

TEST_F(SlurmRunTest, EndedActionsCountAsProgress) {
  Set("share", 1);  // each dies at its second action
  options_.deploy.set_retries(0);
  ASSERT_TRUE(Run(MakePlanOf("0")).ok());
  EXPECT_THAT(Submitted(), SizeIs(3));
  EXPECT_THAT(Executed(), SizeIs(3));
}

TEST_F(SlurmRunTest, RequeuedTasksAreNotSubmittedAgain) {
  Set("requeue", 2);
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  EXPECT_THAT(Submitted(), SizeIs(1));
  EXPECT_GE(Begun().size(), 2);
  EXPECT_THAT(Executed(), SizeIs(6));
  EXPECT_EQ(Lines(fake_ + "/restarts").front(), "1");  // SLURM_RESTART_COUNT
}

TEST_F(SlurmRunTest, RepeatedDeathsEndTheRun) {
  std::filesystem::create_directories(store_.folder());
  std::ofstream(store_.folder() + "/broken") << "";
  Set("lag", 0);  // there is accounting
  options_.deploy.set_retries(1);
  const Plan plan = MakePlanOf("0");
  EXPECT_EQ(Run(plan), absl::UnavailableError(
                           absl::StrCat("Slurm job 2 (COMPLETED) ended without a result, 2 times; its output is "
                                        "in ",
                                        store_.folder(), "/slurm/logs, and the same command submits it again")));
  EXPECT_THAT(Submitted(), SizeIs(2));
  EXPECT_EQ(*store_.CountFailures(plan.actions[0].key), 0);
  // The next run tries again.
  std::filesystem::remove(store_.folder() + "/broken");
  EXPECT_TRUE(Run(MakePlanOf("0")).ok());
}

// One process submits, another watches.
TEST_F(SlurmRunTest, TheJobOfAnotherProcessIsNamed) {
  Set("hold", 1);
  Set("lag", 0);
  options_.deploy.set_retries(0);
  const Plan plan = MakePlanOf("0");
  OpenWork work;
  work.open = {ActionId{0}};
  SlurmRun submits(plan, store_, options_, nullptr), watches(plan, store_, options_, nullptr);
  ASSERT_TRUE(submits.SubmitFor(work).ok());
  ASSERT_TRUE(watches.SubmitFor(work).ok());
  ASSERT_THAT(Submitted(), SizeIs(1));
  ASSERT_TRUE(SlurmClient().Cancel({"1"}).ok());
  std::ofstream(fake_ + "/ended/1_0") << "CANCELLED";
  ASSERT_TRUE(watches.SubmitFor(work).ok());
  EXPECT_THAT(std::string(watches.SubmitFor(work).message()),
              HasSubstr("job 1 (CANCELLED) ended without a result, 1 time;"));
}

TEST_F(SlurmRunTest, SaysOnceThatSlurmDoesNotAnswer) {
  Set("hold", 1);
  const Plan plan = MakePlanOf("0");
  OpenWork work;
  work.open = {ActionId{0}};
  std::vector<std::string> lines;
  SlurmRun run(plan, store_, options_, nullptr, [&](const std::string& line) { lines.push_back(line); });
  ASSERT_TRUE(run.SubmitFor(work).ok());
  lines.clear();
  const std::string broken = ::testing::TempDir() + "/broken", path = getenv("PATH");
  std::filesystem::create_directories(broken);
  std::ofstream(broken + "/squeue") << "#!/bin/sh\necho error: no credentials >&2\nexit 1\n";
  std::filesystem::permissions(broken + "/squeue", std::filesystem::perms::owner_all);
  setenv("PATH", absl::StrCat(broken, ":", path).c_str(), 1);
  ASSERT_TRUE(run.SubmitFor(work).ok());
  ASSERT_TRUE(run.SubmitFor(work).ok());
  setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(lines,
              testing::ElementsAre("Slurm does not answer; retrying: squeue exited with 1: error: no credentials"));
}

// A search may choose trials that need a GPU.
TEST_F(SlurmRunTest, ASeatFitsEachActionThatThePlanNeeds) {
  const Plan plan = PlanInSandbox(sandbox_, store_, "execution { device: CUDA device_kind: 'x' } seed: [0, 1]");
  ActionMemory memory;
  memory.set_train_mb(700);
  EXPECT_EQ(DescribeSeat(SeatFor(plan, memory, {})), "1 GPU, 4 CPUs, 700 MB");
  for (const Action& action : plan.actions) {
    if (action.kind == ActionKind::kEvaluate) continue;
    ASSERT_TRUE(MakeFolders(StageOf(action).ResultPath(store_, action.key)).ok());
  }
  const Plan evaluations = PlanInSandbox(sandbox_, store_, "execution { device: CUDA device_kind: 'x' } seed: [0, 1]");
  EXPECT_EQ(DescribeSeat(SeatFor(evaluations, memory, {})), "1 CPU");
  EXPECT_EQ(DescribeSeat(SeatFor(MakePlanOf("0"), {}, {})), "1 CPU");
}

TEST_F(SlurmRunTest, FailuresThatATaskRecordedAreNotRetried) {
  const Plan plan = MakePlanOf("0");
  sandbox_.Write("work.sh", "exit 1");
  Detach();
  ASSERT_TRUE(Run(plan).ok());
  Watch();
  options_.deploy.set_retries(1000000);
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

TEST_F(SlurmRunTest, AProcessThatReturnsSubmitsNothingTwice) {
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

TEST_F(SlurmRunTest, ASignalEndsOnlyTheProcessThatSubmits) {
  Set("wait", 1);
  observer_.interrupt = true;
  EXPECT_TRUE(absl::IsCancelled(Run(MakePlanOf("0"))));
  observer_.interrupt = false;
  observer_.on_tick = [this] { std::filesystem::remove(fake_ + "/wait"); };
  ASSERT_TRUE(Run(MakePlanOf("0")).ok());
  EXPECT_THAT(Submitted(), SizeIs(1));
}

TEST_F(SlurmRunTest, ReportsMissingSlurm) {
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
    copy_ = *copy;
    options_.program = program_;
    options_.runfiles = sandbox_.folder() + "/files";
    options_.command = {};
  }

  // Submits, and holds jobs back until Release().
  void SubmitAndHold(const std::string& seeds) {
    Set("wait", 1);
    Detach();
    EXPECT_TRUE(Run(MakePlanOf(seeds)).ok());
    Watch();
  }
  void Release() const { std::filesystem::remove(fake_ + "/wait"); }

  ProgramCopy copy_;
  const std::string program_ = sandbox_.folder() + "/files/openset/tools/program";
};

TEST_F(CopiedProgramTest, RunsTheSubmittedProgramDespiteRebuilds) {
  SubmitAndHold("0, 1");
  EXPECT_THAT(*ProgramsInUse(store_), ElementsAre(copy_.sha256));
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
  options_.program = "";
  options_.command = {program_};
  options_.deploy.set_retries(0);
  EXPECT_TRUE(absl::IsUnavailable(Run(MakePlanOf("2"))));
  EXPECT_TRUE(FileExists(fake_ + "/another"));
}

TEST_F(CopiedProgramTest, ACorruptCopyIsRefusedAndReplaced) {
  SubmitAndHold("0");
  const std::string folder = copy_.folder;
  std::ofstream(folder + "/program.runfiles/openset/tools/work.sh", std::ios::app) << "# damage";
  Release();
  // The tasks that were submitted do nothing; those submitted in their place run a new copy.
  EXPECT_TRUE(Run(MakePlanOf("0")).ok());
  EXPECT_THAT(ReadFile(fake_ + "/log").value_or(""),
              HasSubstr(folder +
                        ": program.runfiles/openset/tools/work.sh: FAILED: the copied program has changed since it was "
                        "submitted"));
  EXPECT_THAT(Submitted(), SizeIs(2));
  EXPECT_THAT(Executed(), SizeIs(3));
  Copy();
  EXPECT_EQ(copy_.folder, folder);
}

TEST_F(CopiedProgramTest, TheEnvironmentRefersToNoFilesOfTheOriginal) {
  WriteProgram("echo \"$RUNFILES_DIR$TEST_SRCDIR\" >> \"$FAKE_SLURM/seen\"");
  Copy();
  setenv("RUNFILES_DIR", "/original", 1);
  options_.deploy.set_retries(0);
  EXPECT_TRUE(absl::IsUnavailable(Run(MakePlanOf("0"))));
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

}  // namespace
}  // namespace openset

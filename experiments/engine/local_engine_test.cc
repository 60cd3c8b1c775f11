#include "experiments/engine/local_engine.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "experiments/testing/local_engine_scene.h"

namespace openset {
namespace {

std::unique_ptr<Subprocess> Sleeper() {
  return *Subprocess::Start({"/bin/sh", "-c", "exec sleep 1000"}, {}, testing::TempDir() + "/sleeper.log");
}

absl::StatusOr<std::vector<pid_t>> CannotTell(int) { return absl::NotFoundError("no GPU driver"); }

bool BecomesFree(LeavingWorkers* workers, int gpu) {
  for (int look = 0; look < 10000; ++look) {
    if (workers->IsFree(gpu)) return true;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return false;
}

TEST(LeavingWorkers, AGpuIsFreeOnceItsProcessesHaveEnded) {
  LeavingWorkers workers(CannotTell, absl::Hours(1));
  EXPECT_TRUE(workers.IsFree(0));
  std::unique_ptr<Subprocess> worker = Sleeper();
  const pid_t group = worker->pid();
  workers.Add(0, std::move(worker));
  EXPECT_TRUE(BecomesFree(&workers, 0));
  EXPECT_NE(kill(-group, 0), 0);
}

TEST(LeavingWorkers, AGpuIsFreeOnceTheDriverListsNoneOfThem) {
  std::vector<pid_t> on_gpu;
  int asked = 0;
  const auto driver = [&](int gpu) -> absl::StatusOr<std::vector<pid_t>> {
    EXPECT_EQ(gpu, 3);
    ++asked;
    return on_gpu;
  };
  LeavingWorkers workers(driver, absl::Hours(1));
  std::unique_ptr<Subprocess> worker = Sleeper();
  on_gpu = {getpid(), worker->pid()};
  worker->Kill(SIGKILL);
  worker->Wait();
  workers.Add(3, std::move(worker));
  EXPECT_FALSE(workers.IsFree(3));
  EXPECT_TRUE(workers.IsFree(4));
  EXPECT_TRUE(workers.Lost(3).ok());
  on_gpu = {getpid()};  // processes of others don't matter
  EXPECT_TRUE(BecomesFree(&workers, 3));
  // Workers that have left are not checked again.
  const int before = asked;
  EXPECT_TRUE(workers.IsFree(3));
  EXPECT_EQ(asked, before);
}

TEST(LeavingWorkers, AGpuThatIsNotLeftInTimeIsLost) {
  std::vector<pid_t> on_gpu;
  LeavingWorkers workers([&on_gpu](int) -> absl::StatusOr<std::vector<pid_t>> { return on_gpu; }, absl::ZeroDuration());
  std::unique_ptr<Subprocess> worker = Sleeper();
  on_gpu = {worker->pid()};
  workers.Add(0, std::move(worker));
  EXPECT_FALSE(workers.IsFree(0));
  EXPECT_EQ(workers.Lost(0).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(workers.Lost(0).message()),
              MatchesRegex("GPU 0 is no longer used: worker [0-9]+, which was killed 0 ago, .*nvidia-smi."));
  on_gpu.clear();
  EXPECT_FALSE(workers.IsFree(0)) << "for good";
  EXPECT_TRUE(workers.IsFree(1));
  EXPECT_TRUE(workers.Lost(1).ok());
}

std::vector<int> Allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

TEST(CpuPins, EachActionHasItsOwnCpusAndReturnsThem) {
  const std::vector<int> all = Allowed();
  if (all.size() < 2) GTEST_SKIP() << "one CPU only";
  CpuPins pins(static_cast<int>(all.size()));
  ASSERT_TRUE(pins.pins());
  const std::vector<int> first = pins.Take(1), second = pins.Take(1);
  EXPECT_THAT(first, ElementsAre(all[0]));
  EXPECT_THAT(second, ElementsAre(all[1]));
  pins.Pin(getpid(), second);
  EXPECT_EQ(Allowed(), second);
  pins.Pin(getpid(), {});
  EXPECT_EQ(Allowed(), all);
  pins.GiveBack(first);
  EXPECT_EQ(pins.Take(100).size(), all.size() - 1);
  EXPECT_THAT(pins.Take(1), IsEmpty());
}

TEST(CpuPins, PinsNothingUnlessSlotsEqualCpus) {
  CpuPins pins(static_cast<int>(Allowed().size()) + 1);
  EXPECT_FALSE(pins.pins());
  EXPECT_THAT(pins.Take(1), IsEmpty());
}

TEST_F(LocalEngineTest, MakesAllRecordsAndSkipsExistingOnes) {
  const Plan plan = MakePlanOf("0, 1, 2, 3");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_EQ(Records(plan), 4);
  EXPECT_EQ(Executed().size(), 12);
  EXPECT_EQ(observer_.finished.size(), 12);
  EXPECT_EQ(observer_.most_running, 2);
  // None of the workers wrote to its log.
  EXPECT_THAT(ListFolder(store_.LogFolder()).value(), IsEmpty());

  ASSERT_TRUE(Run(MakePlanOf("0, 1, 2, 3")).ok());
  EXPECT_EQ(Executed().size(), 12);
  ASSERT_TRUE(Run(MakePlanOf("0, 1, 2, 3, 4")).ok());
  EXPECT_EQ(Executed().size(), 15);
}

constexpr char kThreePerturbations[] =
    "override { inference { input_perturbation {} } } "
    "axis { path: 'inference.input_perturbation.epsilon' value: ['0', '0.1', '0.2'] } ";

TEST_F(LocalEngineTest, SharedInferencePassesAreOneRequest) {
  more_ = kThreePerturbations;
  const Plan plan = MakePlanOf("0");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_EQ(Records(plan), 3);
  EXPECT_EQ(Executed().size(), 1 + 1 + 3);
  EXPECT_EQ(observer_.finished.size(), 1 + 3 + 3);
}

TEST_F(LocalEngineTest, AFailureOfSharedPassesFailsAllOfThem) {
  more_ = kThreePerturbations;
  const Plan plan = MakePlanOf("105");
  EXPECT_TRUE(absl::IsAborted(Run(plan)));
  EXPECT_EQ(Records(plan), 0);
  EXPECT_EQ(observer_.failed.size(), 1);
  EXPECT_EQ(observer_.skipped.size(), 2 + 3);
}

TEST_F(LocalEngineTest, WorkersAreReused) {
  options_.capacity.cpu_threads = 1;
  ASSERT_TRUE(Run(MakePlanOf("0, 1, 2")).ok());
  std::set<std::string> trainers;
  for (const std::string& line : Executed()) {
    if (line.rfind("evaluate", 0) != 0) trainers.insert(line.substr(line.find(' ')));
  }
  EXPECT_EQ(trainers.size(), 1);
}

TEST_F(LocalEngineTest, TrialsCompleteBeforeNewOnesBegin) {
  options_.capacity.cpu_threads = 1;
  ASSERT_TRUE(Run(MakePlanOf("0, 1")).ok());
  std::vector<std::string> kinds;
  for (const std::string& line : Executed()) kinds.push_back(line.substr(0, line.find(' ')));
  EXPECT_THAT(kinds, ElementsAre("train", "infer", "evaluate", "train", "infer", "evaluate"));
}

TEST_F(LocalEngineTest, ThreadsTakeSlots) {
  more_ = "execution { threads: 2 }";
  ASSERT_TRUE(Run(MakePlanOf("0, 1, 2")).ok());
  EXPECT_EQ(observer_.most_running, 1);
  // More threads than slots still run, one at a time.
  more_ = "execution { threads: 64 }";
  const Plan plan = MakePlanOf("0, 1");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_EQ(Records(plan), 2);
}

TEST_F(LocalEngineTest, ACrashFailsOnlyItsOwnTrial) {
  const Plan plan = MakePlanOf(absl::StrCat("0, ", kCrashSeed, ", 1, ", kExitSeed, ", 2, ", kErrorSeed, ", 3"));
  const absl::Status status = Run(plan);
  EXPECT_EQ(status, absl::AbortedError("3 actions failed"));
  EXPECT_EQ(Records(plan), 4);
  EXPECT_EQ(observer_.skipped.size(), 6);
  EXPECT_THAT(observer_.messages, UnorderedElementsAre("its worker was killed by signal 11 (Segmentation fault)",
                                                       "its worker exited with 3", "the training diverged"));
  // The failure is recorded with the end of the log.
  for (ActionId action : observer_.failed) EXPECT_TRUE(store_.LoadFailure(plan[action].key).ok());
  const auto crash = std::find_if(observer_.failed.begin(), observer_.failed.end(), [&](ActionId id) {
    return plan.RequestOf(plan[id]).action().train().seed() == kCrashSeed;
  });
  ASSERT_NE(crash, observer_.failed.end());
  const FailureRecord failure = *store_.LoadFailure(plan[*crash].key);
  EXPECT_EQ(failure.kind(), "train");
  EXPECT_EQ(failure.description(), absl::StrCat("plain on task, split 0, seed ", kCrashSeed));
  EXPECT_THAT(failure.log_tail(), HasSubstr("about to crash"));
  EXPECT_THAT(ReadFile(store_.LogPath(plan[*crash].key)).value(), HasSubstr("about to crash"));
}

TEST_F(LocalEngineTest, DeadWorkersAreRetriedAndDivergedTrainingsAreNot) {
  execute_.deploy.set_retries(2);
  const Plan plan = MakePlanOf(absl::StrCat(kCrashOnceSeed, ", ", kErrorSeed));
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.retried,
              ElementsAre("its worker was killed by signal 9 (Killed): memory ran out, or a user killed it"));
  EXPECT_THAT(observer_.messages, ElementsAre("the training diverged"));
  EXPECT_EQ(Records(plan), 1);
}

TEST_F(LocalEngineTest, AnExceptionFailsItsActionAndItsWorkerContinues) {
  options_.capacity.cpu_threads = 1;
  const Plan plan = MakePlanOf(absl::StrCat(kThrowSeed, ", 0"));
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.messages, ElementsAre("a library threw"));
  EXPECT_EQ(Records(plan), 1);
}

// They live on, and would never end their actions.
TEST_F(LocalEngineTest, WorkersThatSendNoEventsAreKilled) {
  const Plan plan = MakePlanOf(absl::StrCat("0, ", kGarbageSeed, ", ", kEmptyMessageSeed));
  EXPECT_EQ(Run(plan), absl::AbortedError("2 actions failed"));
  EXPECT_THAT(observer_.messages,
              UnorderedElementsAre("its worker sent a message that can't be read (a message on the channel declares an "
                                   "impossible size) and was killed",
                                   "its worker sent a message that can't be read (it is empty) and was killed"));
  EXPECT_EQ(Records(plan), 1);
}

TEST_F(LocalEngineTest, AWorkerThatHangsIsKilled) {
  options_.hang = absl::Seconds(2);
  const Plan plan = MakePlanOf(absl::StrCat("0, ", kSilentSeed));
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.messages, ElementsAre("its worker hung: it gave no sign of life for 2s and was killed"));
  EXPECT_THAT(store_.LoadFailure(plan.actions[3].key)->log_tail(), HasSubstr("about to say nothing"));
  EXPECT_EQ(Records(plan), 1);
}

// Sends a message in part, says so in a file, and waits for ever.
std::string WorkerWithHalfAMessage(const Store& store) {
  return absl::StrCat("head -c 4 <&3 >/dev/null; printf '\\020\\0\\0\\0abc' >&3; : >", store.folder(),
                      "/half; exec sleep 1000");
}

TEST_F(LocalEngineTest, AWorkerThatStopsWithinAMessageHangs) {
  options_.hang = absl::Seconds(2);
  options_.trainer = {"/bin/sh", "-c", WorkerWithHalfAMessage(store_)};
  execute_.deploy.set_retries(1);
  const Plan plan = MakePlanOf("0");
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  const std::string hung =
      "its worker hung: it stopped in the middle of a message, gave no sign of life for 2s and was killed";
  EXPECT_THAT(observer_.retried, ElementsAre(hung));
  EXPECT_THAT(observer_.messages, ElementsAre(hung));
}

// Use of the CPU is no sign that the rest of a message will come.
TEST_F(LocalEngineTest, AWorkerThatStopsWithinAMessageHangsAlsoIfItUsesTheCpu) {
  options_.hang = absl::Seconds(2);
  options_.trainer = {"/bin/sh", "-c", "printf '\\020\\0' >&3; while :; do :; done"};
  EXPECT_EQ(Run(MakePlanOf("0")), absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.messages, ElementsAre(HasSubstr("it stopped in the middle of a message")));
}

TEST_F(LocalEngineTest, ASignalStopsAlsoWithinAMessage) {
  options_.trainer = {"/bin/sh", "-c", WorkerWithHalfAMessage(store_)};
  execute_.saving = absl::Milliseconds(100);
  observer_.interrupt_when = [&] { return FileExists(store_.folder() + "/half"); };
  EXPECT_EQ(Run(MakePlanOf("0")), absl::CancelledError("stopped by Interrupt"));
}

// A request that the socket can't hold waits in the engine, which goes on with its other work.
TEST_F(LocalEngineTest, AWorkerThatDoesNotReadItsRequestHangs) {
  ASSERT_THAT(MakeFolders(store_.folder()), IsOk());
  options_.hang = absl::Seconds(2);
  options_.trainer = {"/bin/sleep", "1000"};
  LocalEngine engine(store_, options_);
  const Plan plan = MakePlanOf("0");
  WorkRequest request = plan.RequestOf(plan.actions[0]);
  request.add_data_folder(std::string(4 << 20, 'x'));
  ASSERT_THAT(engine.Start(ActionId{0}, /*gpu=*/-1, request), IsOk());
  ASSERT_THAT(engine.Start(ActionId{1}, /*gpu=*/-1, request), IsOk());
  engine.GiveCpus(ActionId{0}, 3);
  engine.AskToStop(ActionId{0});
  engine.Kill(ActionId{1});
  std::vector<EngineEvent> events;
  while (events.empty()) events = engine.Wait(/*wake=*/-1, absl::Milliseconds(100));
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0].action, ActionId{0});
  EXPECT_EQ(events[0].end,
            absl::DeadlineExceededError(
                "its worker hung: it stopped reading its messages, gave no sign of life for 2s and was killed"));
}

// Each byte is a sign of life, in both directions. A message takes longer than the engine waits for a sign of life.
TEST_F(LocalEngineTest, AWorkerThatReadsAndSendsSlowlyDoesNotHang) {
  options_.hang = absl::Seconds(3);
  options_.trainer.push_back("slow");
  const Plan plan = MakePlanOf("0");
  EXPECT_THAT(Run(plan), IsOk());
  EXPECT_EQ(Records(plan), 1);
}

// Requests larger than a socket's buffer arrive, and workers die in the middle of them.
TEST_F(LocalEngineTest, LargeRequestsArrive) {
  ASSERT_THAT(MakeFolders(store_.folder()), IsOk());
  const auto end_of = [&](const std::vector<std::string>& trainer) {
    options_.trainer = trainer;
    LocalEngine engine(store_, options_);
    const Plan plan = MakePlanOf("0");
    WorkRequest request = plan.RequestOf(plan.actions[0]);
    request.add_data_folder(std::string(32 << 20, 'x'));
    EXPECT_THAT(engine.Start(ActionId{0}, /*gpu=*/-1, request), IsOk());
    std::vector<EngineEvent> events;
    while (events.empty()) events = engine.Wait(/*wake=*/-1, absl::Seconds(1));
    return *events[0].end;
  };
  EXPECT_EQ(end_of({"/bin/sh", "-c", "head -c 1000000 <&3 >/dev/null; exit 5"}),
            absl::UnavailableError("its worker exited with 5"));
  EXPECT_THAT(end_of(options_.evaluator), IsOk());
}

TEST_F(LocalEngineTest, TheNextRunRetriesFailedActions) {
  const Plan plan = MakePlanOf(absl::StrCat(kErrorSeed));
  EXPECT_FALSE(Run(plan).ok());
  const size_t before = Executed().size();
  EXPECT_FALSE(Run(MakePlanOf(absl::StrCat(kErrorSeed))).ok());
  EXPECT_EQ(Executed().size(), before + 1);
}

TEST_F(LocalEngineTest, ASignalLetsATrainingSaveItsStateAndTheNextRunResumes) {
  observer_.interrupt_on_progress = true;
  const Plan plan = MakePlanOf(absl::StrCat(kSavingSeed));
  EXPECT_EQ(Run(plan), absl::CancelledError("stopped by Interrupt"));
  EXPECT_TRUE(FileExists(store_.folder() + "/saved"));
  EXPECT_EQ(*store_.CountFailures(plan.actions[0].key), 0);
  EXPECT_TRUE(Run(MakePlanOf(absl::StrCat(kSavingSeed))).ok());
  EXPECT_EQ(Records(plan), 1);
}

// A request to stop that arrives after its action has ended does not affect the same worker's next action.
TEST_F(LocalEngineTest, AStopRequestAffectsOnlyItsAction) {
  ASSERT_THAT(MakeFolders(store_.folder()), IsOk());
  LocalEngine engine(store_, options_);
  const Plan plan = MakePlanOf(absl::StrCat("0, ", kSavingSeed));
  std::vector<const Action*> trainings;
  for (const Action& action : plan.actions) {
    if (action.kind == ActionKind::kTrain) trainings.push_back(&action);
  }
  ASSERT_EQ(trainings.size(), 2);
  const auto wait = [&engine] {
    std::vector<EngineEvent> events;
    while (events.empty()) events = engine.Wait(/*wake=*/-1, absl::Seconds(1));
    return events[0];
  };
  ASSERT_THAT(engine.Start(ActionId{0}, /*gpu=*/-1, plan.RequestOf(*trainings[0])), IsOk());
  while (!FileExists(store_.CheckpointFolder(trainings[0]->key))) usleep(1000);
  engine.AskToStop(ActionId{0});
  EXPECT_EQ(wait().end, absl::OkStatus());
  ASSERT_THAT(engine.Start(ActionId{1}, /*gpu=*/-1, plan.RequestOf(*trainings[1])), IsOk());
  EXPECT_TRUE(wait().progress.has_value());  // it asks before it reports
  engine.AskToStop(ActionId{1});
  EngineEvent last = wait();
  while (!last.end.has_value()) last = wait();
  EXPECT_EQ(last.end, absl::CancelledError("stopped"));
}

TEST_F(LocalEngineTest, RunningActionsGetMoreCpus) {
  ASSERT_THAT(MakeFolders(store_.folder()), IsOk());
  LocalEngine engine(store_, options_);
  const Plan plan = MakePlanOf(absl::StrCat(kSavingSeed));
  WorkRequest request = plan.RequestOf(plan.actions[0]);
  ASSERT_TRUE(request.action().has_train());
  request.set_cpu_slots(1);
  ASSERT_THAT(engine.Start(ActionId{0}, /*gpu=*/-1, request), IsOk());
  std::string what;
  const auto wait_for = [&](const std::string& wanted) {
    while (what != wanted) {
      for (const EngineEvent& event : engine.Wait(/*wake=*/-1, absl::Seconds(1))) {
        if (event.end.has_value()) return false;
        if (event.progress.has_value()) what = event.progress->what();
      }
    }
    return true;
  };
  EXPECT_TRUE(wait_for("1 CPU slots"));
  engine.GiveCpus(ActionId{0}, 3);
  EXPECT_TRUE(wait_for("3 CPU slots"));
  engine.AskToStop(ActionId{0});
  engine.GiveCpus(ActionId{0}, 4);  // a message after the action's end affects no action
  EXPECT_FALSE(wait_for("never"));
  ASSERT_THAT(engine.Start(ActionId{0}, /*gpu=*/-1, request), IsOk());
  bool ended = false;
  while (!ended) {
    for (const EngineEvent& event : engine.Wait(/*wake=*/-1, absl::Seconds(1))) {
      ended = event.end.has_value();
      if (ended) {
        EXPECT_EQ(*event.end, absl::OkStatus());
      }
    }
  }
}

TEST_F(LocalEngineTest, ASignalStopsAndLeavesNoProcess) {
  observer_.interrupt_on_progress = true;
  execute_.saving = absl::Milliseconds(100);
  const Plan plan = MakePlanOf(absl::StrCat("0, ", kHangSeed));
  const absl::Status status = Run(plan);
  EXPECT_EQ(status, absl::CancelledError("stopped by Interrupt"));
  for (const std::string& line : Executed()) {
    const int pid = std::stoi(line.substr(line.find(' ')));
    EXPECT_NE(kill(pid, 0), 0) << line;
  }
}

TEST_F(LocalEngineTest, AWorkerThatCannotStartIsAnErrorAndNoResultIsLost) {
  const std::vector<std::string> evaluator = std::exchange(options_.evaluator, {"/nowhere/worker"});
  const absl::Status error = absl::NotFoundError("cannot start /nowhere/worker: No such file or directory");
  const Plan plan = MakePlanOf("0, 1, 2");
  EXPECT_EQ(Run(plan), error);
  EXPECT_THAT(observer_.start_failures, AllOf(Not(IsEmpty()), Each(error)));
  EXPECT_THAT(observer_.failed, IsEmpty());
  EXPECT_THAT(observer_.skipped, IsEmpty());
  for (const Action& action : plan.actions) EXPECT_FALSE(store_.LoadFailure(action.key).ok());
  // Existing results are not made again.
  options_.evaluator = evaluator;
  ASSERT_TRUE(Run(MakePlanOf("0, 1, 2")).ok());
  EXPECT_EQ(Executed().size(), 9);
}

TEST_F(LocalEngineTest, AWorkerThatDiesWhileIdleIsReplaced) {
  options_.capacity.cpu_threads = 1;
  int killed = 0;
  observer_.on_finish = [&] {
    const std::string last = Executed().back();
    const int pid = std::stoi(last.substr(last.find(' ')));
    kill(pid, SIGKILL);
    siginfo_t info;
    waitid(P_PID, pid, &info, WEXITED | WNOWAIT);  // until it is dead
    ++killed;
  };
  const Plan plan = MakePlanOf("0, 1");
  EXPECT_TRUE(Run(plan).ok());
  EXPECT_EQ(killed, 6);
  EXPECT_EQ(Records(plan), 2);
}

}  // namespace
}  // namespace openset

// Faults, tried and counted, on the engine with workers that take no time: killed orchestrators, workers that die in
// every way, several orchestrators racing on one store, a sleeper, signals. Prints how often each was tried and what
// was lost. OPENSET_FAULTS=long: as often as the project states (minutes); else so often that the tests stay short.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/random.h"
#include "core/testing/fault_rounds.h"
#include "experiments/testing/engine_faults_scene.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr uint64_t kSeed = 1;  // of the moments

TEST_F(EngineFaults, KilledOrchestratorsLoseNothingThatWasAcknowledged) {
  const int kills = Times(1000, 12);
  const std::vector<int> seeds = Seeds(200);
  RandomStream random(kSeed, "kills");
  int killed = 0, completed = 0, lost = 0, torn = 0;
  int64_t acknowledged = 0;
  std::map<std::string, std::string> reference;
  for (Store store = NewStore(); killed < kills; store = NewStore()) {
    std::set<std::string> keys;
    while (true) {
      const bool last = killed == kills;
      const Orchestrator run = Start(store, seeds);
      if (!last) usleep(static_cast<useconds_t>(random.Uniform(20e3, 60e3)) * 3);
      if (!last) kill(run.pid, SIGKILL);
      std::string text;
      char buffer[4096];
      for (ssize_t size; (size = read(run.acknowledged, buffer, sizeof(buffer))) > 0;) text.append(buffer, size);
      close(run.acknowledged);
      const int code = WaitFor(run.pid);
      for (absl::string_view key : absl::StrSplit(text.substr(0, text.rfind('\n') + 1), '\n', absl::SkipEmpty())) {
        keys.insert(std::string(key));
        ++acknowledged;
      }
      for (const std::string& key : keys) {
        const absl::StatusOr<TrialRecord> record = store.LoadRecord(key);
        lost += absl::IsNotFound(record.status());
        torn += !record.ok() && !absl::IsNotFound(record.status());
      }
      if (code == 0) break;
      ASSERT_EQ(code, 128 + SIGKILL);
      ++killed;
    }
    ++completed;
    ExpectNoWorkers(store);
    ExpectComplete(store, seeds);
    std::map<std::string, std::string> records;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(store.folder() + "/records")) {
      if (entry.is_regular_file()) records[entry.path().filename()] = *ReadFile(entry.path());
    }
    if (reference.empty()) {
      const Store undisturbed = NewStore();
      ASSERT_TRUE(Execute(undisturbed, seeds).ok());
      for (const auto& entry : std::filesystem::recursive_directory_iterator(undisturbed.folder() + "/records")) {
        if (entry.is_regular_file()) reference[entry.path().filename()] = *ReadFile(entry.path());
      }
    }
    EXPECT_EQ(records, reference);
    std::filesystem::remove_all(store.folder());
  }
  std::printf("R1: %d orchestrators killed, %d stores completed, %lld records acknowledged, %d lost, %d torn\n", killed,
              completed, static_cast<long long>(acknowledged), lost, torn);
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(torn, 0);
}

TEST_F(EngineFaults, EachWayThatAWorkerDiesCostsItsTrialOnly) {
  const int times = Times(200, 1);
  // SIGSEGV, exit, an error, silence, SIGKILL once, SIGSTOP, abort, and no memory left; see fake_worker.cc.
  const std::vector<int> seeds = {1000, 101, 1001, 102, 1002, 103, 1003, 106, 1004, 107, 108, 109, 110};
  execute_.retry.retries = 1;
  options_.hang = absl::Seconds(2);
  int failed = 0, records = 0;
  for (int t = 0; t < times; ++t) {
    const Store store = NewStore();
    EXPECT_EQ(Execute(store, seeds), absl::AbortedError("7 actions failed"));
    ExpectNoWorkers(store);
    const Plan plan = MakePlanOf(store, seeds);
    for (size_t trial = 0; trial < seeds.size(); ++trial)
      records += store.HasRecord(plan.trial_id(static_cast<int>(trial)));
    for (const PlanNode& node : plan.nodes) failed += store.CountFailures(node.key);
    std::filesystem::remove_all(store.folder());
  }
  std::printf("R2: workers died in 8 ways, %d times each: %d failed attempts recorded, %d of %d other trials done\n",
              times, failed, records, 6 * times);
  EXPECT_EQ(records, 6 * times);
  EXPECT_EQ(failed, (2 + 2 + 1 + 2 + 1 + 2 + 2 + 2) * times);
}

TEST_F(EngineFaults, RacingOrchestratorsDoEachActionOnce) {
  const int rounds = Times(50, 1), trials = Times(2000, 60);
  for (const int racers : {2, 8}) {
    int64_t executed = 0, actions = 0;
    for (int round = 0; round < rounds; ++round) {
      executed += Race(racers, Seeds(trials));
      actions += 3 * trials;
    }
    std::printf("R9: %d orchestrators at once, %d rounds of %d trials: %lld actions done, %lld done twice\n", racers,
                rounds, trials, static_cast<long long>(actions), static_cast<long long>(executed - actions));
    EXPECT_EQ(executed, actions);
  }
}

TEST_F(EngineFaults, ASleeperLosesItsActionsAndEndsWellWhenItWakes) {
  const int times = Times(20, 1);
  lease_ = absl::Seconds(3);
  const std::vector<int> seeds = Seeds(300);
  RandomStream random(kSeed, "sleepers");
  int64_t executed = 0;
  for (int t = 0; t < times; ++t) {
    const Store store = NewStore();
    const Orchestrator sleeper = Start(store, seeds);
    usleep(static_cast<useconds_t>(random.Uniform(20e3, 200e3)));
    kill(sleeper.pid, SIGSTOP);
    const Orchestrator other = Start(store, seeds);
    EXPECT_EQ(WaitFor(other.pid), 0);
    kill(sleeper.pid, SIGCONT);
    EXPECT_EQ(WaitFor(sleeper.pid), 0);
    close(sleeper.acknowledged);
    close(other.acknowledged);
    ExpectComplete(store, seeds);
    executed += static_cast<int64_t>(Executed(store).size()) - 3 * static_cast<int64_t>(seeds.size());
    std::filesystem::remove_all(store.folder());
  }
  std::printf("R10: %d owners slept past their lease: %lld actions done twice, none lost\n", times,
              static_cast<long long>(executed));
  EXPECT_LE(executed, 2 * times);  // those that it had at work
}

TEST_F(EngineFaults, SignalsStopAtAnyMomentAndTheSameGoesOn) {
  const int times = Times(200, 6);
  const std::vector<int> seeds = Seeds(100);
  const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  RandomStream random(kSeed, "signals");
  int stopped = 0, completed = 0;
  for (Store store = NewStore(); stopped < times; store = NewStore()) {
    while (true) {
      const Orchestrator run = Start(store, seeds);
      // Once it can take them: a signal before that ends any program.
      while (Executed(store).empty()) usleep(1000);
      usleep(static_cast<useconds_t>(random.Uniform(30e3, 150e3)));
      kill(run.pid, signals[stopped % 3]);
      if (stopped % 2 == 1) kill(run.pid, SIGINT);  // an impatient one
      const int code = WaitFor(run.pid);
      close(run.acknowledged);
      ExpectNoWorkers(store);
      if (code == 0) break;
      EXPECT_THAT(code, ::testing::AnyOf(130, 128 + SIGINT, 128 + SIGTERM, 128 + SIGHUP));
      ++stopped;
    }
    ++completed;
    ExpectComplete(store, seeds);
    std::filesystem::remove_all(store.folder());
  }
  std::printf("R13: %d runs stopped by signals, %d stores completed, no process left\n", stopped, completed);
}

}  // namespace
}  // namespace openset

// Injects faults into the engine, with workers that do nothing: killed orchestrators, workers that die in every way,
// several orchestrators racing on one store, suspended processes, signals. Prints how often each was tried and what was
// lost. OPENSET_FAULTS=long runs as many cases as the project documents (minutes); by default, few enough for a short
// test.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/process/steady_clock.h"
#include "core/random.h"
#include "core/testing/fault_rounds.h"
#include "core/testing/status_matchers.h"
#include "experiments/testing/engine_faults_scene.h"

namespace openset {
namespace {

constexpr uint64_t kSeed = 1;  // of the random moments

TEST_F(EngineFaults, KilledOrchestratorsLoseNoAcknowledgedResults) {
  const int kills = Times(1000, 12);
  const std::vector<int> seeds = Seeds(200);
  RandomStream random(kSeed, "kills");
  int killed = 0, completed = 0, lost = 0, torn = 0;
  int64_t acknowledged = 0;
  const std::map<std::string, std::string> reference = UndisturbedRecords(seeds);
  for (Store store = NewStore(); killed < kills; store = NewStore()) {
    std::set<std::string> keys;
    while (true) {
      const bool last = killed == kills;
      const Orchestrator run = Start(store, seeds);
      if (!last) usleep(static_cast<useconds_t>(random.Uniform(20e3, 180e3)));
      if (!last) kill(run.pid, SIGKILL);
      const std::set<std::string> said = ReadAll(run).records;
      const int code = WaitFor(run.pid);
      keys.insert(said.begin(), said.end());
      acknowledged += static_cast<int64_t>(said.size());
      const auto [lost_now, torn_now] = LostAndTorn(store, keys);
      lost += lost_now;
      torn += torn_now;
      if (code == 0) break;
      ASSERT_EQ(code, 128 + SIGKILL);
      ++killed;
    }
    ++completed;
    ExpectNoWorkers();
    ExpectComplete(store, seeds);
    EXPECT_EQ(RecordBytes(store), reference);
    std::filesystem::remove_all(store.folder());
  }
  std::printf("R1: %d orchestrators killed, %d stores completed, %lld records acknowledged, %d lost, %d torn\n", killed,
              completed, static_cast<long long>(acknowledged), lost, torn);
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(torn, 0);
}

TEST_F(EngineFaults, ADyingWorkerFailsOnlyItsOwnTrial) {
  const int times = Times(200, 1);
  // SIGSEGV, exit, an error, silence, SIGKILL once, SIGSTOP, abort, and no memory left; see fake_worker.cc.
  const std::vector<int> seeds = {1000, 101, 1001, 102, 1002, 103, 1003, 106, 1004, 107, 108, 109, 110};
  execute_.deploy.set_retries(1);
  options_.hang = absl::Seconds(2);
  int failed = 0, records = 0;
  Footprint first;
  for (int t = 0; t < times; ++t) {
    const Store store = NewStore();
    EXPECT_EQ(Execute(store, seeds), absl::AbortedError("7 actions failed"));
    ExpectNoWorkers();
    const Plan plan = MakePlanOf(store, seeds);
    for (size_t trial = 0; trial < seeds.size(); ++trial)
      records += *store.HasRecord(plan.trial_id(static_cast<int>(trial)));
    for (const Action& action : plan.actions) failed += *store.CountFailures(action.key);
    std::filesystem::remove_all(store.folder());
    if (t == times / 10) first = ThisFootprint();
  }
  const Footprint last = ThisFootprint();
  std::printf(
      "R2: workers died in 8 ways, %d times each: %d failed attempts recorded, %d of %d other trials done; after "
      "a tenth of them and at the end %d and %d open files, %lld and %lld KiB\n",
      times, failed, records, 6 * times, first.open_files, last.open_files, static_cast<long long>(first.resident_kib),
      static_cast<long long>(last.resident_kib));
  ExpectNoGrowth(first, last);
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

// Returns the inodes of a store's records, by file name.
std::map<std::string, uint64_t> RecordInodes(const Store& store) {
  std::map<std::string, uint64_t> inodes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(store.folder() + "/records")) {
    struct stat info = {};
    if (entry.is_regular_file() && stat(entry.path().c_str(), &info) == 0)
      inodes[entry.path().filename()] = info.st_ino;
  }
  return inodes;
}

// An orchestrator that is suspended with its workers, like a laptop whose lid is closed.
struct Sleeper {
  Store store;
  Orchestrator sleeper, other;
  std::vector<pid_t> workers;
  std::map<std::string, uint64_t> records;  // of the other orchestrator
};

TEST_F(EngineFaults, SuspendedProcessesLoseTheirActionsAndOverwriteNothing) {
  const int times = Times(100, 1), at_once = Times(20, 1);
  const absl::Duration sleep = absl::Seconds(Times(60, 4));
  lease_ = absl::Seconds(Times(20, 3));
  const std::vector<int> seeds = Seeds(100);
  RandomStream random(kSeed, "sleepers");
  int64_t twice = 0, lost = 0;
  for (int t = 0; t < times; t += at_once) {
    std::vector<Sleeper> sleepers;
    for (int s = 0; s < at_once; ++s) {
      const Store store = NewStore();
      const Orchestrator run = Start(store, seeds);
      while (Executed(store).empty()) usleep(1000);
      usleep(static_cast<useconds_t>(random.Uniform(10e3, 150e3)));
      kill(run.pid, SIGSTOP);
      sleepers.push_back({store, run, {}, Workers(run.pid), {}});
      for (const pid_t worker : sleepers.back().workers) kill(worker, SIGSTOP);
    }
    const absl::Duration stopped = SteadyNow();
    for (Sleeper& s : sleepers) s.other = Start(s.store, seeds);
    for (Sleeper& s : sleepers) {
      EXPECT_EQ(ReadAll(s.other).lost, 0);
      EXPECT_EQ(WaitFor(s.other.pid), 0);
      s.records = RecordInodes(s.store);
      EXPECT_EQ(s.records.size(), seeds.size());
    }
    while (SteadyNow() - stopped < sleep) usleep(100000);
    for (const Sleeper& s : sleepers) kill(s.sleeper.pid, SIGCONT);
    usleep(500000);  // it first looks for lost claims
    for (const Sleeper& s : sleepers) {
      for (const pid_t worker : s.workers) kill(worker, SIGCONT);
    }
    for (const Sleeper& s : sleepers) {
      lost += ReadAll(s.sleeper).lost;
      EXPECT_EQ(WaitFor(s.sleeper.pid), 0);
      ExpectComplete(s.store, seeds);
      EXPECT_EQ(RecordInodes(s.store), s.records);
      twice += static_cast<int64_t>(Executed(s.store).size()) - 3 * static_cast<int64_t>(seeds.size());
      std::filesystem::remove_all(s.store.folder());
    }
    ExpectNoWorkers();
  }
  std::printf(
      "R10: %d owners slept for %lld s, past their lease: %lld actions begun twice, %lld said to be lost, no "
      "record overwritten\n",
      times, static_cast<long long>(absl::ToInt64Seconds(sleep)), static_cast<long long>(twice),
      static_cast<long long>(lost));
  EXPECT_LE(twice, 2 * times);  // the actions that it was running
  EXPECT_GE(2 * lost, twice);   // it may never notice the loss of an action that it was about to start
}

// The terminal of every fourth run is closed; a third of the others are interrupted again at once.
TEST_F(EngineFaults, RunsCanBeStoppedAtAnyMomentAndResumed) {
  const int times = Times(200, 8);
  const std::vector<int> seeds = Seeds(100);
  const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  RandomStream random(kSeed, "signals");
  int stopped = 0, completed = 0, terminals = 0;
  const std::map<std::string, std::string> reference = UndisturbedRecords(seeds);
  for (Store store = NewStore(); stopped < times; store = NewStore()) {
    while (true) {
      const bool last = stopped == times, on_terminal = stopped % 4 == 3 && !last;
      const Orchestrator run = Start(store, seeds, on_terminal);
      // Once it handles signals: before that, a signal ends any program.
      while (Executed(store).empty()) usleep(1000);
      usleep(static_cast<useconds_t>(random.Uniform(30e3, 150e3)));
      if (on_terminal) {
        close(run.terminal);
      } else if (!last) {
        kill(run.pid, signals[stopped % 3]);
        if (stopped % 2 == 1) kill(run.pid, SIGINT);  // a second signal
      }
      ReadAll(run);
      const int code = WaitFor(run.pid);
      ExpectNoWorkers();
      if (code == 0) break;
      EXPECT_THAT(code, ::testing::AnyOf(130, 128 + SIGINT, 128 + SIGTERM, 128 + SIGHUP));
      terminals += on_terminal;
      ++stopped;
    }
    ++completed;
    ExpectComplete(store, seeds);
    EXPECT_EQ(RecordBytes(store), reference);
    std::filesystem::remove_all(store.folder());
  }
  std::printf("R13: %d runs stopped by signals, %d by closed terminals, %d stores completed, no process left\n",
              stopped - terminals, terminals, completed);
}

}  // namespace
}  // namespace openset

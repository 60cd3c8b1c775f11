// Faults, tried and counted, on the engine with workers that take no time: killed orchestrators, workers that die in
// every way, several orchestrators racing on one store, a sleeper, signals. Prints how often each was tried and what
// was lost. OPENSET_FAULTS=long: as often as the project states (minutes); else so often that the tests stay short.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/process/exit_code.h"
#include "core/random.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/local_engine.h"
#include "experiments/plan/planner.h"
#include "experiments/spec/expand.h"
#include "experiments/store/leases.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::IsEmpty;

constexpr uint64_t kSeed = 1;  // of the moments

int Times(int often, int seldom) {
  const char* form = std::getenv("OPENSET_FAULTS");
  return form != nullptr && std::string(form) == "long" ? often : seldom;
}

// Writes the key of each record that is done to a pipe: from then on it is acknowledged.
class Acknowledger : public EngineObserver {
 public:
  Acknowledger(const Plan& plan, int fd) : plan_(plan), fd_(fd) {}
  void OnStart(int) override {}
  void OnProgress(int, const WorkProgress&) override {}
  void OnFinish(int node, const absl::Status& status) override {
    if (!status.ok() || plan_.nodes[node].kind != ActionKind::kEvaluate || fd_ < 0) return;
    const std::string line = plan_.nodes[node].key + "\n";
    (void)!write(fd_, line.data(), line.size());
  }
  void OnSkip(int) override {}
  void OnStartFailure(int, const absl::Status&) override {}
  void OnRetry(int, const absl::Status&, absl::Duration) override {}
  void OnElsewhere(int, const std::string&, bool) override {}
  void OnGrowth(const std::vector<int>&) override {}
  void OnTick() override {}
  void Describe(RunState*) const override {}

 private:
  const Plan& plan_;
  const int fd_;
};

struct Orchestrator {
  pid_t pid;
  int acknowledged;  // reads
};

class EngineFaults : public ::testing::Test {
 protected:
  EngineFaults() {
    const std::string worker = *RunfilesFolder() + "/openset/experiments/testing/fake_worker";
    options_.trainer = {worker};
    options_.evaluator = {worker};
    options_.capacity.cpu_threads = 2;
    execute_.retry.first_wait = absl::Milliseconds(1);
  }

  Store NewStore() { return Store(absl::StrCat(sandbox_.folder(), "/store", stores_++)); }

  Plan MakePlanOf(const Store& store, const std::vector<int>& seeds) const {
    const absl::StatusOr<Experiment> experiment =
        sandbox_.Load(absl::StrCat("name: 'spec' task: 'task' method: 'plain' split: 0 metric { accuracy {} } seed: [",
                                   absl::StrJoin(seeds, ", "), "]"));
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    return MakePlan(*Expand(*experiment), store, [](const Selection&) { return 1; });
  }

  static std::vector<int> Seeds(int count) {
    std::vector<int> seeds;
    for (int seed = 0; seed < count; ++seed) seeds.push_back(1000 + seed);
    return seeds;
  }

  absl::Status Execute(const Store& store, const std::vector<int>& seeds, int fd = -1) {
    const Plan plan = MakePlanOf(store, seeds);
    LeaseOptions lease;
    lease.lease = lease_;
    const absl::StatusOr<std::unique_ptr<Leases>> leases = Leases::Begin(store, lease);
    if (!leases.ok()) return leases.status();
    store.SweepTemporaries();
    ExecuteOptions execute = execute_;
    execute.leases = leases->get();
    LocalEngine engine(store, options_);
    Acknowledger observer(plan, fd);
    return ExecutePlan(plan, /*choose=*/nullptr, store, execute, &engine, &observer);
  }

  // In a process of its own; its exit code is that of the run.
  Orchestrator Start(const Store& store, const std::vector<int>& seeds) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    const pid_t pid = fork();
    if (pid == 0) _exit(ExitCode(Execute(store, seeds, ends[1])));
    close(ends[1]);
    return {pid, ends[0]};
  }

  static int WaitFor(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // "train PID" ... of the workers.
  static std::vector<std::string> Executed(const Store& store) {
    return absl::StrSplit(ReadFile(store.folder() + "/executed").value_or(""), '\n', absl::SkipEmpty());
  }

  static void ExpectNoWorkers(const Store& store) {
    std::set<int> pids;
    for (const std::string& line : Executed(store)) pids.insert(std::atoi(line.substr(line.find(' ')).c_str()));
    // They are killed with their orchestrator; the kernel may take a moment.
    for (const int pid : pids) {
      for (int looks = 0; looks < 500 && kill(pid, 0) == 0; ++looks) usleep(10000);
      EXPECT_NE(kill(pid, 0), 0) << pid;
    }
  }

  // All trials have a record that is whole, and nothing of any process is left.
  void ExpectComplete(const Store& store, const std::vector<int>& seeds) const {
    store.SweepTemporaries();  // of workers that were still dying when the last run began
    const Plan plan = MakePlanOf(store, seeds);
    for (size_t t = 0; t < plan.trials.size(); ++t) {
      const absl::StatusOr<TrialRecord> record = store.LoadRecord(plan.trial_id(static_cast<int>(t)));
      ASSERT_TRUE(record.ok()) << record.status();
      EXPECT_EQ(record->trial_id(), plan.trial_id(static_cast<int>(t)));
    }
    EXPECT_EQ(plan.CountNeeded(ActionKind::kEvaluate), 0);
    for (const char* folder : {"tmp", "runs"}) EXPECT_THAT(*ListFolder(JoinPath(store.folder(), folder)), IsEmpty());
    const std::vector<std::string> claims = *ListFolder(store.folder() + "/running");
    for (const std::string& claim : claims) {
      EXPECT_NE(claim.find('~'), std::string::npos) << claim;  // the trace of a takeover, which is swept by age
    }
  }

  SpecSandbox sandbox_;
  LocalEngineOptions options_;
  ExecuteOptions execute_;
  absl::Duration lease_ = absl::Minutes(2);
  int stores_ = 0;
};

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
  // SIGSEGV, exit, an error, silence, and SIGKILL once; see fake_worker.cc.
  const std::vector<int> seeds = {1000, 101, 1001, 102, 1002, 103, 1003, 106, 1004, 107};
  execute_.retry.retries = 1;
  options_.hang = absl::Seconds(2);
  int failed = 0, records = 0;
  for (int t = 0; t < times; ++t) {
    const Store store = NewStore();
    EXPECT_EQ(Execute(store, seeds), absl::AbortedError("4 actions failed"));
    ExpectNoWorkers(store);
    const Plan plan = MakePlanOf(store, seeds);
    for (size_t trial = 0; trial < seeds.size(); ++trial)
      records += store.HasRecord(plan.trial_id(static_cast<int>(trial)));
    for (const PlanNode& node : plan.nodes) failed += store.CountFailures(node.key);
    std::filesystem::remove_all(store.folder());
  }
  std::printf("R2: workers died in 5 ways, %d times each: %d failed attempts recorded, %d of %d other trials done\n",
              times, failed, records, 6 * times);
  EXPECT_EQ(records, 6 * times);
  EXPECT_EQ(failed, (2 + 2 + 1 + 2 + 1) * times);
}

TEST_F(EngineFaults, RacingOrchestratorsDoEachActionOnce) {
  const int rounds = Times(50, 1), trials = Times(2000, 60);
  for (const int racers : {2, 8}) {
    int64_t executed = 0, actions = 0;
    for (int round = 0; round < rounds; ++round) {
      const Store store = NewStore();
      const std::vector<int> seeds = Seeds(trials);
      std::vector<Orchestrator> runs;
      for (int r = 0; r < racers; ++r) runs.push_back(Start(store, seeds));
      for (const Orchestrator& run : runs) {
        EXPECT_EQ(WaitFor(run.pid), 0);
        close(run.acknowledged);
      }
      ExpectNoWorkers(store);
      ExpectComplete(store, seeds);
      executed += static_cast<int64_t>(Executed(store).size());
      actions += 3 * trials;
      std::filesystem::remove_all(store.folder());
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

// For tests that try faults on the engine with workers that take no time (fake_worker.cc): orchestrators in processes
// of their own, on one store.
#ifndef OPENSET_EXPERIMENTS_TESTING_ENGINE_FAULTS_SCENE_H_
#define OPENSET_EXPERIMENTS_TESTING_ENGINE_FAULTS_SCENE_H_

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
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
#include "core/testing/fault_rounds.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/local_engine.h"
#include "experiments/plan/planner.h"
#include "experiments/spec/expand.h"
#include "experiments/store/leases.h"
#include "experiments/testing/execute_plan_scene.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {

// Writes the key of each record that is done to a pipe: from then on it is acknowledged.
class Acknowledger : public Observer {
 public:
  Acknowledger(const Plan& plan, int fd) : plan_(plan), fd_(fd) {}
  void OnFinish(int node, const absl::Status& status) override {
    if (!status.ok() || plan_.nodes[node].kind != ActionKind::kEvaluate || fd_ < 0) return;
    const std::string line = plan_.nodes[node].key + "\n";
    (void)!write(fd_, line.data(), line.size());
  }

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

  // So many of them at once on a new store. How many actions were executed.
  int64_t Race(int racers, const std::vector<int>& seeds) {
    const Store store = NewStore();
    std::vector<Orchestrator> runs;
    for (int r = 0; r < racers; ++r) runs.push_back(Start(store, seeds));
    for (const Orchestrator& run : runs) {
      EXPECT_EQ(WaitFor(run.pid), 0);
      close(run.acknowledged);
    }
    ExpectNoWorkers(store);
    ExpectComplete(store, seeds);
    const auto executed = static_cast<int64_t>(Executed(store).size());
    std::filesystem::remove_all(store.folder());
    return executed;
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
    for (const char* folder : {"tmp", "runs"})
      EXPECT_THAT(*ListFolder(JoinPath(store.folder(), folder)), ::testing::IsEmpty());
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

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TESTING_ENGINE_FAULTS_SCENE_H_

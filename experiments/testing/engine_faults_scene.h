// For tests of faults in the engine: several orchestrator processes on one store, with workers that do no work
// (fake_worker.cc).
#ifndef OPENSET_EXPERIMENTS_TESTING_ENGINE_FAULTS_SCENE_H_
#define OPENSET_EXPERIMENTS_TESTING_ENGINE_FAULTS_SCENE_H_

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/process/exit_code.h"
#include "core/testing/fault_rounds.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/local_engine.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/processes/orphans.h"
#include "experiments/testing/execute_plan_scene.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {

// Writes the key of each finished record to a pipe, which acknowledges it, and "lost KEY" for each action that was lost
// to another process.
class Acknowledger : public Observer {
 public:
  Acknowledger(const Plan& plan, int fd) : plan_(plan), fd_(fd) {}
  void OnFinish(ActionId id, const absl::Status& status) override {
    if (status.ok() && plan_[id].kind == ActionKind::kEvaluate) Say(plan_[id].key);
  }
  void OnElsewhere(ActionId id, const std::string& run_id, bool was_ours) override {
    Observer::OnElsewhere(id, run_id, was_ours);
    if (was_ours) Say("lost " + plan_[id].key);
  }

 private:
  void Say(const std::string& what) const {
    if (fd_ < 0) return;
    const std::string line = what + "\n";
    (void)!write(fd_, line.data(), line.size());
    if (getsid(0) == getpid()) (void)!write(STDOUT_FILENO, line.data(), line.size());  // it has its own terminal
  }

  const Plan& plan_;
  const int fd_;
};

struct Orchestrator {
  pid_t pid;
  int acknowledged;   // the read end of its pipe
  int terminal = -1;  // the other side of its terminal, if it has one
};

// What an orchestrator has written to its pipe.
struct Acknowledged {
  std::set<std::string> records;  // by their keys
  int lost = 0;                   // actions
};

// The resources of a process.
struct Footprint {
  int open_files = 0;
  int64_t resident_kib = 0;
};

class EngineFaults : public ::testing::Test {
 protected:
  EngineFaults() {
    const std::string worker = *RunfilesFolder() + "/openset/experiments/testing/fake_worker";
    // The argument identifies the workers among all processes.
    options_.trainer = {worker, absl::StrCat("--of-test=", getpid())};
    options_.evaluator = options_.trainer;
    options_.capacity.cpu_threads = 2;
    execute_.first_wait = absl::Milliseconds(1);
    execute_.poll_interval = absl::Milliseconds(1);
  }

  Store NewStore() { return Store(absl::StrCat(sandbox_.folder(), "/store", stores_++)); }

  Plan MakePlanOf(const Store& store, const std::vector<int>& seeds) const {
    return PlanInSandbox(sandbox_, store, absl::StrCat("seed: [", absl::StrJoin(seeds, ", "), "]"));
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
    SweepTemporaries(store);
    ExecuteOptions execute = execute_;
    execute.leases = leases->get();
    LocalEngine engine(store, options_);
    Acknowledger observer(plan, fd);
    return ExecutePlan(plan, /*choose=*/nullptr, store, execute, &engine, &observer);
  }

  // Starts an orchestrator in a new process, optionally with its own terminal. Its exit code is the run's.
  Orchestrator Start(const Store& store, const std::vector<int>& seeds, bool on_terminal = false) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    Orchestrator started = {0, ends[0]};
    started.pid = on_terminal ? forkpty(&started.terminal, nullptr, nullptr, nullptr) : fork();
    if (started.pid == 0) {
      signal(SIGHUP, SIG_DFL);  // for tests that run under nohup
      _exit(ExitCode(Execute(store, seeds, ends[1])));
    }
    EXPECT_GT(started.pid, 0);
    if (on_terminal) fcntl(started.terminal, F_SETFD, FD_CLOEXEC);
    close(ends[1]);
    return started;
  }

  // Reads the pipe to its end and closes it.
  static Acknowledged ReadAll(const Orchestrator& run) {
    std::string text;
    char buffer[4096];
    for (ssize_t size; (size = read(run.acknowledged, buffer, sizeof(buffer))) > 0;) text.append(buffer, size);
    close(run.acknowledged);
    Acknowledged acknowledged;
    for (absl::string_view line : absl::StrSplit(text.substr(0, text.rfind('\n') + 1), '\n', absl::SkipEmpty())) {
      if (absl::StartsWith(line, "lost ")) {
        ++acknowledged.lost;
      } else {
        acknowledged.records.insert(std::string(line));
      }
    }
    return acknowledged;
  }

  // Returns how many of these keys' records are missing, and how many can't be read.
  static std::pair<int, int> LostAndTorn(const Store& store, const std::set<std::string>& keys) {
    int lost = 0, torn = 0;
    for (const std::string& key : keys) {
      const absl::Status status = store.LoadRecord(key).status();
      lost += absl::IsNotFound(status);
      torn += !status.ok() && !absl::IsNotFound(status);
    }
    return {lost, torn};
  }

  // The bytes of a store's records, by the names of their files.
  static std::map<std::string, std::string> RecordBytes(const Store& store) {
    std::map<std::string, std::string> records;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(store.folder() + "/records")) {
      if (entry.is_regular_file()) records[entry.path().filename()] = *ReadFile(entry.path());
    }
    return records;
  }

  // The records of an undisturbed run.
  std::map<std::string, std::string> UndisturbedRecords(const std::vector<int>& seeds) {
    const Store store = NewStore();
    EXPECT_EQ(Execute(store, seeds), absl::OkStatus());
    std::map<std::string, std::string> records = RecordBytes(store);
    std::filesystem::remove_all(store.folder());
    return records;
  }

  static Footprint ThisFootprint() {
    Footprint footprint;
    footprint.open_files = static_cast<int>(ListFolder("/proc/self/fd")->size());
    const std::string status = ReadFile("/proc/self/status").value_or("");
    footprint.resident_kib = std::atoll(status.substr(status.find("VmRSS:") + 6).c_str());
    return footprint;
  }

  // Expects no more open files, and no more memory than its usual fluctuation.
  static void ExpectNoGrowth(const Footprint& first, const Footprint& last) {
    EXPECT_EQ(last.open_files, first.open_files);
    EXPECT_LT(last.resident_kib, first.resident_kib + (16 << 10));
  }

  // Runs `racers` orchestrators at once on a new store. Returns the number of actions that were executed.
  int64_t Race(int racers, const std::vector<int>& seeds) {
    const Store store = NewStore();
    std::vector<Orchestrator> runs;
    for (int r = 0; r < racers; ++r) runs.push_back(Start(store, seeds));
    for (const Orchestrator& run : runs) {
      EXPECT_EQ(WaitFor(run.pid), 0);
      close(run.acknowledged);
    }
    ExpectNoWorkers();
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

  // What the workers executed: "train PID" ...
  static std::vector<std::string> Executed(const Store& store) {
    return absl::StrSplit(ReadFile(store.folder() + "/executed").value_or(""), '\n', absl::SkipEmpty());
  }

  // The running workers of this orchestrator, or of the whole test, and all dying workers.
  std::vector<pid_t> Workers(pid_t orchestrator = 0) const {
    std::vector<pid_t> workers;
    const std::vector<std::string> names = *ListFolder("/proc");
    for (const std::string& name : names) {
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string process = JoinPath("/proc", name);
      const std::string command = ReadFile(process + "/cmdline").value_or("");
      const bool is_dying = command.empty() && ReadFile(process + "/comm").value_or("") == "fake_worker\n";
      if (!is_dying && !absl::StrContains(command, options_.trainer.back())) continue;
      const std::string status = ReadFile(process + "/status").value_or("");
      if (orchestrator != 0 && !absl::StrContains(status, absl::StrCat("\nPPid:\t", orchestrator, "\n"))) continue;
      workers.push_back(std::atoi(name.c_str()));
    }
    return workers;
  }

  void ExpectNoWorkers() const {
    // They are killed with their orchestrator; the kernel may take a moment.
    for (int looks = 0; looks < 500 && !Workers().empty(); ++looks) usleep(10000);
    EXPECT_THAT(Workers(), ::testing::IsEmpty());
  }

  // Expects a valid record for every trial, and no remains of any process.
  void ExpectComplete(const Store& store, const std::vector<int>& seeds) const {
    SweepTemporaries(store);  // files of workers that were still dying when the last run began
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
      EXPECT_NE(claim.find('~'), std::string::npos) << claim;  // traces of takeovers stay until they are old
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

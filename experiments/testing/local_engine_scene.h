// A local engine whose workers are experiments/testing/fake_worker.cc.
#ifndef OPENSET_EXPERIMENTS_TESTING_LOCAL_ENGINE_SCENE_H_
#define OPENSET_EXPERIMENTS_TESTING_LOCAL_ENGINE_SCENE_H_

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/local_engine.h"
#include "experiments/plan/planner.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/testing/execute_plan_scene.h"
#include "experiments/testing/spec_sandbox.h"
#include "gtest/gtest.h"

namespace openset {

// What these seeds make a worker do: experiments/testing/fake_worker.cc.
inline constexpr int kCrashSeed = 101;
inline constexpr int kExitSeed = 102;
inline constexpr int kErrorSeed = 103;
inline constexpr int kHangSeed = 104;
inline constexpr int kSilentSeed = 106;
inline constexpr int kCrashOnceSeed = 107;
inline constexpr int kThrowSeed = 111;
inline constexpr int kBrokenDeviceSeed = 112;
inline constexpr int kNoMemorySeed = 113;
inline constexpr int kSpinningSeed = 114;
inline constexpr int kGarbageSeed = 115;
inline constexpr int kEmptyMessageSeed = 116;
inline constexpr int kSavingSeed = 120;

class LocalObserver : public Observer {
 public:
  void OnStart(ActionId action) override {
    running.insert(action);
    most_running = std::max(most_running, running.size());
  }
  void OnFinish(ActionId action, const absl::Status& status) override {
    Observer::OnFinish(action, status);
    running.erase(action);
    if (on_finish) on_finish();
    if (!status.ok()) messages.push_back(std::string(status.message()));
  }
  void OnGpuLost(ActionId action, const absl::Status& why) override {
    Observer::OnGpuLost(action, why);
    running.erase(action);
  }
  void OnRetry(ActionId action, const absl::Status& status, absl::Duration) override {
    running.erase(action);
    retried.push_back(std::string(status.message()));
  }
  void OnTick() override {
    if (progress > 0 && std::exchange(interrupt_on_progress, false)) kill(getpid(), SIGINT);
    if (interrupt_when && interrupt_when()) {
      interrupt_when = nullptr;
      kill(getpid(), SIGINT);
    }
  }

  std::set<ActionId> running;
  std::vector<std::string> messages, retried;
  size_t most_running = 0;
  bool interrupt_on_progress = false;    // once
  std::function<bool()> interrupt_when;  // once
  std::function<void()> on_finish;
};

class LocalEngineTest : public ::testing::Test {
 protected:
  LocalEngineTest() : store_(sandbox_.folder() + "/store") {
    const std::string worker = *RunfilesFolder() + "/openset/experiments/testing/fake_worker";
    options_.trainer = {worker};
    options_.evaluator = {worker};
    options_.capacity.cpu_threads = 2;
    execute_.deploy.set_retries(0);
    execute_.first_wait = absl::Milliseconds(1);
    execute_.poll_interval = absl::Milliseconds(1);
  }

  Plan MakePlanOf(const std::string& seeds) const {
    const absl::StatusOr<Experiment> experiment = sandbox_.Load(absl::StrCat(
        "name: 'spec' task: 'task' method: 'plain' split: 0 metric { accuracy {} } seed: [", seeds, "] ", more_));
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    return MakePlan(*Expand(*experiment), store_, [](const Selection&) { return 1; });
  }

  absl::Status Run(const Plan& plan) {
    LocalEngine engine(store_, options_);
    return ExecutePlan(plan, /*choose=*/nullptr, store_, execute_, &engine, &observer_);
  }

  // What the workers executed: "train PID", ...
  std::vector<std::string> Executed() const {
    return absl::StrSplit(ReadFile(store_.folder() + "/executed").value_or(""), '\n', absl::SkipEmpty());
  }

  int Records(const Plan& plan) const {
    return static_cast<int>(std::count_if(plan.evaluations.begin(), plan.evaluations.end(),
                                          [&](ActionId action) { return *store_.HasRecord(plan[action].key); }));
  }

  const SpecSandbox sandbox_;
  const Store store_;
  LocalEngineOptions options_;
  ExecuteOptions execute_;
  LocalObserver observer_;
  std::string more_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TESTING_LOCAL_ENGINE_SCENE_H_

// For tests of runs on Slurm with fake commands (testdata/fake_slurm.sh), whose tasks make empty results.
#ifndef OPENSET_EXPERIMENTS_TESTING_FAKE_SLURM_SCENE_H_
#define OPENSET_EXPERIMENTS_TESTING_FAKE_SLURM_SCENE_H_

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "experiments/action/stage.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/store/processes/leases.h"
#include "experiments/testing/execute_plan_scene.h"
#include "experiments/testing/spec_sandbox.h"
#include "gtest/gtest.h"

namespace openset {

class SlurmObserver : public Observer {
 public:
  void OnFinish(ActionId id, const absl::Status& status) override {
    Observer::OnFinish(id, status);
    if (!status.ok()) messages.push_back(std::string(status.message()));
  }
  void OnTick() override {
    if (interrupt) kill(getpid(), SIGINT);
    if (on_tick) on_tick();
  }

  std::vector<std::string> messages;
  bool interrupt = false;
  std::function<void()> on_tick;
};

// A task: makes empty results for the open actions in $FAKE_SLURM/work ("KEY KIND INPUT ..."), at most as many as the
// number in the file `share` next to it. A requeued task ends before it has made anything. The fake cluster runs one
// task at a time.
inline constexpr char kWork[] = R"SH(
file=$(printf '%s\n' "$@" | sed -n 's/^--slurm_task=//p')
store=$(dirname "$(dirname "$file")")
echo "$SLURM_ARRAY_JOB_ID" >> "$store/begun"
if [ -n "$FAKE_PREEMPTED" ]; then echo "$SLURM_ARRAY_JOB_ID" >> "$store/preempted"; exit 1; fi
if [ -e "$store/broken" ]; then exit 1; fi
left=$(cat "$FAKE_SLURM/share" 2>/dev/null || echo 1000000)
path() {
  case "$2" in
    train) echo "$store/checkpoints/${1:0:2}/$1";;
    infer) echo "$store/outputs/${1:0:2}/$1";;
    evaluate) echo "$store/records/${1:0:2}/$1.rec";;
  esac
}
while read -r key kind inputs; do
  result=$(path "$key" "$kind")
  if [ -e "$result" ]; then continue; fi
  for input in $inputs; do
    if ! [ -e "$(path "$input" train)" ] && ! [ -e "$(path "$input" infer)" ]; then continue 2; fi
  done
  if [ $left = 0 ]; then exit 0; fi
  left=$((left - 1))
  echo "$SLURM_ARRAY_JOB_ID $key" >> "$store/executed"
  if [ "$kind" = evaluate ]; then mkdir -p "${result%/*}" && touch "$result"; else mkdir -p "$result"; fi
done < "$FAKE_SLURM/work"  # inputs come first
)SH";

class FakeSlurm : public ::testing::Test {
 protected:
  FakeSlurm() : store_(sandbox_.folder() + "/store"), fake_(sandbox_.folder() + "/fake") {
    const std::string script = *RunfilesFolder() + "/openset/experiments/testing/testdata/fake_slurm.sh";
    const std::string bin = sandbox_.folder() + "/bin";
    std::filesystem::create_directories(bin);
    std::filesystem::create_directories(fake_);
    for (const char* name : {"sbatch", "squeue", "scontrol", "scancel", "sacct"}) {
      std::filesystem::create_symlink(script, JoinPath(bin, name));
    }
    setenv("PATH", absl::StrCat(bin, ":/usr/bin:/bin").c_str(), 1);
    setenv("FAKE_SLURM", fake_.c_str(), 1);
    sandbox_.Write("work.sh", kWork);
    options_.experiment = "spec";
    options_.command = {"/bin/bash", sandbox_.folder() + "/work.sh"};
    engine_.on_wait = [] { usleep(1000); };
  }

  Plan MakePlanOf(const std::string& seeds) const {
    return PlanInSandbox(sandbox_, store_, absl::StrCat("seed: [", seeds, "]"));
  }

  static std::string Range(int count) {
    std::string seeds;
    for (int s = 0; s < count; ++s) absl::StrAppend(&seeds, s == 0 ? "" : ", ", s);
    return seeds;
  }

  // Runs the plan as the process that submits.
  absl::Status Run(const Plan& plan) { return RunOn(store_, plan, &observer_); }

  absl::Status RunOn(const Store& store, const Plan& plan, EngineObserver* observer) {
    WriteWork(plan);
    SlurmOptions options = options_;
    const std::vector<std::string> keys = store.KeysOfFailures().value();
    for (const std::string& key : keys) options.failures_before[key] = *store.CountFailures(key);
    ExecuteOptions execute = execute_;
    SlurmRun run(plan, store, options, observer);
    run.SetUp(&execute);
    execute.poll_interval = absl::Milliseconds(20);
    const auto leases = Leases::Begin(store);
    EXPECT_TRUE(leases.ok()) << leases.status();
    execute.leases = leases->get();
    return ExecutePlan(plan, NoChoice, store, execute, &engine_, observer);
  }

  void Detach() { execute_.idle_timeout = absl::ZeroDuration(); }
  void Watch() { execute_.idle_timeout = std::nullopt; }

  void WriteWork(const Plan& plan) const {
    std::ofstream file(fake_ + "/work");
    for (const Action& action : plan.actions) {
      file << action.key << " " << KindName(action.kind);
      for (const ActionId input : action.inputs) file << " " << plan[input].key;
      file << "\n";
    }
  }

  void WaitForEmptyQueue() const {
    std::error_code error;
    for (int looks = 0; looks < 3000 && !std::filesystem::is_empty(fake_ + "/queue", error) && !error; ++looks)
      usleep(10000);
  }

  void Set(const std::string& what, int count) const { std::ofstream(JoinPath(fake_, what)) << count; }
  std::vector<std::string> Lines(const std::string& path) const {
    return absl::StrSplit(ReadFile(path).value_or(""), '\n', absl::SkipEmpty());
  }
  std::vector<std::string> Submitted() const { return Lines(fake_ + "/submitted"); }
  // Executed: "JOB KEY", in the order of execution. Begun: "JOB" of each task that was started.
  std::vector<std::string> Executed() const { return Lines(store_.folder() + "/executed"); }
  std::vector<std::string> Begun() const { return Lines(store_.folder() + "/begun"); }

  const SpecSandbox sandbox_;
  const Store store_;
  const std::string fake_;
  SlurmOptions options_;
  ExecuteOptions execute_;
  FakeEngine engine_;
  SlurmObserver observer_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TESTING_FAKE_SLURM_SCENE_H_

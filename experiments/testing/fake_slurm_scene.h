// For tests of Slurm's engine by fake commands (testdata/fake_slurm.sh), whose tasks make empty results.
#ifndef OPENSET_EXPERIMENTS_TESTING_FAKE_SLURM_SCENE_H_
#define OPENSET_EXPERIMENTS_TESTING_FAKE_SLURM_SCENE_H_

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "experiments/engine/slurm/run_on_slurm.h"
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
  }

  std::vector<std::string> messages;
  bool interrupt = false;
};

// Makes empty results of the kind that its array says: the keys of an array stand in its file in order, one a task.
// A result that is there stays; without its inputs, where $FAKE_SLURM/inputs says them ("KEY INPUT ..."), none is made.
// A task that is requeued is ended before it has made anything.
inline constexpr char kWork[] = R"SH(
file=$(printf '%s\n' "$@" | sed -n 's/^--slurm_task=//p')
store=$(dirname "$(dirname "$file")")
key=$(grep -aoE '[0-9a-f]{64}' "$file" | sed -n "$((SLURM_ARRAY_TASK_ID + 1))p")
for input in $(sed -n "s/^$key //p" "$FAKE_SLURM/inputs" 2>/dev/null); do
  ab=${input:0:2}
  if ! [ -e "$store/checkpoints/$ab/$input" ] && ! [ -e "$store/outputs/$ab/$input" ]; then exit 0; fi
done
echo "$SLURM_ARRAY_JOB_ID $key" >> "$store/begun"
if [ -n "$FAKE_PREEMPTED" ]; then echo "$key" >> "$store/preempted"; exit 1; fi
ab=${key:0:2}
if grep -aq 'train, ' "$file"; then
  result=$store/checkpoints/$ab/$key
elif grep -aq 'infer, ' "$file"; then
  result=$store/outputs/$ab/$key
else
  result=$store/records/$ab/$key.rec
fi
if [ -e "$result" ]; then exit 0; fi
echo "$SLURM_ARRAY_JOB_ID $key" >> "$store/executed"
if [ -e "$store/broken" ]; then exit 1; fi
if [ "${result%.rec}" = "$result" ]; then
  mkdir -p "$result"
else
  mkdir -p "$store/records/$ab"
  touch "$result"
fi
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
    options_.submit.experiment = "spec";
    options_.submit.command = {"/bin/bash", sandbox_.folder() + "/work.sh"};
    options_.submit.first_wait_seconds = 0.01;
    options_.poll = absl::Milliseconds(20);
  }

  Plan MakePlanOf(const std::string& seeds) const {
    return PlanInSandbox(sandbox_, store_, absl::StrCat("seed: [", seeds, "]"));
  }

  static std::string Range(int count) {
    std::string seeds;
    for (int s = 0; s < count; ++s) absl::StrAppend(&seeds, s == 0 ? "" : ", ", s);
    return seeds;
  }

  absl::Status Run(const Plan& plan) {
    return RunOnSlurm(plan, /*choose=*/nullptr, store_, SlurmClient(), options_, &observer_);
  }

  void WriteInputs(const Plan& plan) const {
    std::ofstream file(fake_ + "/inputs");
    for (const Action& action : plan.actions) {
      file << action.key;
      for (const ActionId input : action.inputs) file << " " << plan[input].key;
      file << "\n";
    }
  }

  void Set(const std::string& what, int count) const { std::ofstream(JoinPath(fake_, what)) << count; }
  std::vector<std::string> Lines(const std::string& path) const {
    return absl::StrSplit(ReadFile(path).value_or(""), '\n', absl::SkipEmpty());
  }
  std::vector<std::string> Submitted() const { return Lines(fake_ + "/submitted"); }
  // "JOB KEY", in the order of execution; begun: also by tasks that found the result, or were ended.
  std::vector<std::string> Executed() const { return Lines(store_.folder() + "/executed"); }
  std::vector<std::string> Begun() const { return Lines(store_.folder() + "/begun"); }

  const SpecSandbox sandbox_;
  const Store store_;
  const std::string fake_;
  SlurmRunOptions options_;
  SlurmObserver observer_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TESTING_FAKE_SLURM_SCENE_H_

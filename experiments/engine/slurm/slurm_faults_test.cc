// A cluster that answers late, twice or not at all, kills and requeues tasks and numbers its jobs anew, and launchers
// that leave and come back: by fake commands, at random, many at once. Prints what was tried. OPENSET_FAULTS=long: 300
// scenarios, in minutes.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/testing/fault_rounds.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/testing/fake_slurm_scene.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SlurmFaults : public FakeSlurm {
 protected:
  // Another cluster and another store.
  void StartAnew() const {
    std::filesystem::remove_all(store_.folder());
    std::filesystem::remove_all(fake_);
    std::filesystem::create_directories(fake_);
  }

  // Sets a number from 0 to `most`, and returns it.
  int Draw(RandomStream* random, const std::string& what, int most) const {
    const auto count = static_cast<int>(random->Below(most + 1));
    if (count > 0) Set(what, count);
    return count;
  }

  void WaitForEmptyQueue() const {
    std::error_code error;
    for (int looks = 0; looks < 3000 && !std::filesystem::is_empty(fake_ + "/queue", error) && !error; ++looks)
      usleep(10000);
  }

  // Of lines "JOB KEY".
  static std::set<std::string> KeysOf(const std::vector<std::string>& lines) {
    std::set<std::string> keys;
    for (const std::string& line : lines) keys.insert(line.substr(line.find(' ') + 1));
    return keys;
  }
};

TEST_F(SlurmFaults, EachActionIsMadeOnceWhateverGoesWrong) {
  const int scenarios = Times(300, 6);
  std::map<std::string, int> tried;
  int64_t actions = 0, submissions = 0, starts = 0, begun_twice = 0;
  for (int s = 0; s < scenarios && !HasFailure(); ++s) {
    SCOPED_TRACE(absl::StrCat("scenario ", s));
    RandomStream random(s, "slurm");
    StartAnew();
    const auto trials = static_cast<int>(1 + random.Below(6));
    const std::string seeds = Range(trials);
    std::map<std::string, int> drawn;
    for (const auto& [what, most] : std::vector<std::pair<std::string, int>>{{"lose_replies", 2},
                                                                             {"refuse", 2},
                                                                             {"blind", 4},
                                                                             {"kill", 2},
                                                                             {"requeue", 3},
                                                                             {"renumber", 2},
                                                                             {"lag", 5},
                                                                             {"forget", 1},
                                                                             {"twice", 1}}) {
      drawn[what] = Draw(&random, what, most);
      tried[what] += drawn[what];
    }
    Set("max_array", static_cast<int>(2 + random.Below(5)));
    WriteInputs(MakePlanOf(seeds));
    options_.retries = 5;
    int64_t leaves = random.Below(3);
    tried["leave"] += static_cast<int>(leaves);
    absl::Status status;
    for (int start = 0; start == 0 || (!status.ok() && start < 30); ++start) {
      SlurmObserver observer;
      observer.interrupt = leaves-- > 0;
      status = RunOnSlurm(MakePlanOf(seeds), nullptr, store_, SlurmClient(), options_, &observer);
      if (!status.ok() && !absl::IsCancelled(status)) {
        EXPECT_THAT(std::string(status.message()),
                    AnyOf(HasSubstr("contact slurm controller"), HasSubstr("timed out")));
      }
      ++starts;
    }
    EXPECT_TRUE(status.ok()) << status;
    WaitForEmptyQueue();
    const int all = 3 * trials;
    for (const Action& action : MakePlanOf(seeds).actions) EXPECT_TRUE(action.is_done());
    EXPECT_THAT(KeysOf(Executed()), SizeIs(all));
    EXPECT_THAT(Executed(), SizeIs(all));
    // A task that is ended and requeued begins again by itself; another one begins only where an answer was lost and
    // the queue did not tell of the job.
    EXPECT_THAT(KeysOf(Begun()), SizeIs(all));
    const auto again = static_cast<int>(Begun().size() - all - Lines(store_.folder() + "/preempted").size());
    const bool may_be_unknown = drawn["lose_replies"] > 0 && (drawn["blind"] > 0 || drawn["forget"] > 0);
    EXPECT_GE(again, 0);
    EXPECT_TRUE(again == 0 || may_be_unknown) << again;
    actions += all;
    submissions += static_cast<int64_t>(Submitted().size());
    begun_twice += again;
  }
  std::printf(
      "R14: %d scenarios, %lld actions by %lld calls of sbatch in %lld starts: each made once, %lld found by a "
      "second task\n",
      scenarios, static_cast<long long>(actions), static_cast<long long>(submissions), static_cast<long long>(starts),
      static_cast<long long>(begun_twice));
  for (const auto& [what, times] : tried) std::printf("     %s: %d\n", what.c_str(), times);
}

TEST_F(SlurmFaults, OfManyTrialsEachIsInOneTaskAndNoIndexIsTooLarge) {
  Set("max_array", 1001);
  Set("lose_replies", 1);
  Set("hold", 1);
  options_.detach = true;
  const Plan plan = MakePlanOf(Range(2500));
  ASSERT_TRUE(Run(plan).ok());
  // 2500 trainings, then inferences, then evaluations in arrays of 1000, 1000 and 500.
  const std::vector<SubmittedArray> arrays = ArraysInStore(store_, "spec");
  ASSERT_EQ(arrays.size(), 9);
  std::set<std::string> keys;
  for (size_t a = 0; a < arrays.size(); ++a) {
    EXPECT_EQ(arrays[a].array.task_size(), a % 3 == 2 ? 500 : 1000);
    EXPECT_EQ(arrays[a].job, absl::StrCat(a + 1));
    EXPECT_THAT(Submitted()[a], HasSubstr(a % 3 == 2 ? "--array=0-499 " : "--array=0-999 "));
    for (const SlurmTask& task : arrays[a].array.task()) {
      for (const std::string& key : task.key()) EXPECT_TRUE(keys.insert(key).second) << key;
    }
  }
  EXPECT_EQ(keys.size(), 7500);
  // Another launcher finds them all.
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Submitted(), SizeIs(9));
}

}  // namespace
}  // namespace openset

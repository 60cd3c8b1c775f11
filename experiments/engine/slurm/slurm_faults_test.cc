// A cluster that answers late, twice or not at all, kills and requeues tasks and reuses job numbers, tasks that end
// before their work does, and processes that submit, leave and return: simulated by fake commands, at random, with many
// running at once. Prints what was tried. OPENSET_FAULTS=long: 300 scenarios, in minutes.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/testing/fault_rounds.h"
#include "core/testing/status_matchers.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/testing/fake_slurm_scene.h"

namespace openset {
namespace {

class SlurmFaults : public FakeSlurm {
 protected:
  // A new cluster and a new store.
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
};

TEST_F(SlurmFaults, EachActionIsDoneOnceWhateverGoesWrong) {
  const int scenarios = Times(300, 6);
  std::map<std::string, int> tried;
  int64_t actions = 0, submissions = 0, starts = 0, tasks = 0;
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
                                                                             {"twice", 1}}) {
      drawn[what] = Draw(&random, what, most);
      tried[what] += drawn[what];
    }
    Set("max_array", static_cast<int>(2 + random.Below(5)));
    if (random.Below(2) == 0) Set("share", static_cast<int>(1 + random.Below(4)));
    options_.deploy.mutable_slurm()->set_tasks(static_cast<int>(random.Below(3)));
    options_.deploy.set_retries(5);
    int64_t leaves = random.Below(3);
    tried["leave"] += static_cast<int>(leaves);
    absl::Status status;
    for (int start = 0; start == 0 || (!status.ok() && start < 30); ++start) {
      SlurmObserver observer;
      observer.interrupt = leaves-- > 0;
      status = RunOn(store_, MakePlanOf(seeds), &observer);
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
    EXPECT_THAT(Executed(), SizeIs(all));
    actions += all;
    submissions += static_cast<int64_t>(Submitted().size());
    tasks += static_cast<int64_t>(Begun().size());
  }
  std::printf("R14: %d scenarios, %lld actions by %lld tasks of %lld calls of sbatch in %lld starts: each made once\n",
              scenarios, static_cast<long long>(actions), static_cast<long long>(tasks),
              static_cast<long long>(submissions), static_cast<long long>(starts));
  for (const auto& [what, times] : tried) std::printf("     %s: %d\n", what.c_str(), times);
}

TEST_F(SlurmFaults, ManyTrialsKeepTheIndexLimitAndAnotherProcessFindsTheTasks) {
  Set("max_array", 1001);
  Set("lose_replies", 1);
  Set("hold", 1);
  Detach();
  const Plan plan = MakePlanOf(Range(2500));
  ASSERT_TRUE(Run(plan).ok());
  const std::vector<SlurmArray> arrays = ArraysInStore(store_, "spec");
  ASSERT_EQ(arrays.size(), 1);
  EXPECT_EQ(arrays[0].tasks(), 1000);
  EXPECT_EQ(arrays[0].record_size(), 2500);
  EXPECT_THAT(Submitted()[0], HasSubstr("--array=0-999 "));
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Submitted(), SizeIs(1));
}

}  // namespace
}  // namespace openset

#include "experiments/store/processes/leases.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/testing/fault_calls.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Ids of runs on other hosts, so that only their signs of life show whether they live.
constexpr char kFirst[] = "first.host.0123abcd.10.1";
constexpr char kSecond[] = "second.0123abcd.20.2";
constexpr char kThird[] = "third.0123abcd.30.3";

class LeasesTest : public ::testing::Test {
 protected:
  LeasesTest()
      : store_(absl::StrCat(testing::TempDir(), "/", testing::UnitTest::GetInstance()->current_test_info()->name())) {}

  std::unique_ptr<Leases> Begin(const std::string& run_id) {
    LeaseOptions options;
    options.lease = absl::Seconds(60);
    options.clock = [this] { return now_; };
    options.run_id = run_id;
    absl::StatusOr<std::unique_ptr<Leases>> leases = Leases::Begin(store_, options);
    EXPECT_TRUE(leases.ok()) << leases.status();
    return *std::move(leases);
  }

  std::vector<std::string> Running() const { return *ListFolder(store_.folder() + "/running"); }

  const Store store_;
  absl::Duration now_ = absl::Hours(1);
};

TEST_F(LeasesTest, OnlyOneRunHasAnAction) {
  const auto first = Begin(kFirst), second = Begin(kSecond);
  EXPECT_EQ(*first->TryClaim({"a"}), "");
  EXPECT_EQ(*second->TryClaim({"a"}), kFirst);
  EXPECT_EQ(second->OwnerOf("a"), kFirst);
  EXPECT_EQ(second->OwnerOf("b"), "");
  first->Release("a");
  EXPECT_EQ(second->OwnerOf("a"), "");
  EXPECT_EQ(*second->TryClaim({"a"}), "");
  EXPECT_EQ(*first->TryClaim({"a"}), kSecond);
  EXPECT_EQ(RunName(kFirst), "first.host, process 10");
}

TEST_F(LeasesTest, ClaimsAllOrNone) {
  const auto first = Begin(kFirst), second = Begin(kSecond);
  EXPECT_EQ(*first->TryClaim({"b"}), "");
  EXPECT_EQ(*second->TryClaim({"a", "b", "c"}), kFirst);
  EXPECT_THAT(Running(), ElementsAre("b"));
  first->Release("b");
  EXPECT_EQ(*second->TryClaim({"a", "b", "c"}), "");
  EXPECT_THAT(Running(), SizeIs(3));
}

TEST_F(LeasesTest, SignsOfLifeKeepAClaim) {
  const auto first = Begin(kFirst), second = Begin(kSecond), third = Begin(kThird);
  ASSERT_EQ(*first->TryClaim({"a"}), "");
  for (int minute = 0; minute < 10; ++minute) {
    EXPECT_EQ(second->OwnerOf("a"), kFirst);
    now_ += absl::Seconds(59);
    ASSERT_TRUE(first->Renew({}).ok());
  }
  EXPECT_EQ(*second->TryClaim({"a"}), kFirst);
  now_ += absl::Seconds(59);
  EXPECT_EQ(*second->TryClaim({"a"}), kFirst);
  // `third` looks for the first time, so it can't know yet.
  EXPECT_EQ(third->OwnerOf("a"), kFirst);
  now_ += absl::Seconds(1);
  EXPECT_EQ(*second->TryClaim({"a"}), "");
  EXPECT_EQ(*third->TryClaim({"a"}), kSecond);

  // The first run resumes.
  EXPECT_THAT(first->Lost(), ElementsAre("a"));
  EXPECT_THAT(first->Lost(), IsEmpty());
  EXPECT_EQ(*first->TryClaim({"a"}), kSecond);
  first->Release("a");
  EXPECT_EQ(third->OwnerOf("a"), kSecond);
  second->Release("a");
  EXPECT_EQ(*first->TryClaim({"a"}), "");
}

// The clock of the observed run does not matter: here it stands still in 1970.
TEST_F(LeasesTest, ALateTakeoverFails) {
  auto first = Begin(kFirst);
  const auto second = Begin(kSecond), third = Begin(kThird);
  ASSERT_EQ(*first->TryClaim({"a"}), "");
  EXPECT_EQ(second->OwnerOf("a"), kFirst);
  EXPECT_EQ(third->OwnerOf("a"), kFirst);
  now_ += absl::Seconds(60);
  // Both have seen that the first run is dead. The second takes over, finishes and releases its claim; then a new claim
  // is made.
  ASSERT_EQ(*second->TryClaim({"a"}), "");
  second->Release("a");
  ASSERT_EQ(*second->TryClaim({"a"}), "");
  EXPECT_EQ(*third->TryClaim({"a"}), kSecond);
  // The takeover's file names the claim that it took over: a process that still considers that claim dead can't win it
  // again.
  EXPECT_THAT(Running(), ElementsAre("a", absl::StrCat("a~", kFirst, "+1")));
}

TEST_F(LeasesTest, EndingReleasesAllClaims) {
  auto first = Begin(kFirst);
  ASSERT_EQ(*first->TryClaim({"a", "b"}), "");
  EXPECT_THAT(RunsOf(store_), SizeIs(1));
  first.reset();
  EXPECT_THAT(Running(), IsEmpty());
  EXPECT_THAT(RunsOf(store_), IsEmpty());
}

TEST_F(LeasesTest, ARunPublishesItsState) {
  const auto first = Begin(kFirst);
  RunState state;
  state.set_experiment("study");
  state.add_running()->set_key("a");
  ASSERT_TRUE(first->Renew(state).ok());
  ASSERT_THAT(RunsOf(store_), SizeIs(1));
  const RunState read = RunsOf(store_)[0];
  EXPECT_EQ(read.id(), kFirst);
  EXPECT_EQ(read.experiment(), "study");
  EXPECT_EQ(read.running(0).key(), "a");
  EXPECT_EQ(read.lease_seconds(), 60);
  EXPECT_EQ(read.sequence(), 2);
  EXPECT_THAT(*ListFolder(store_.folder() + "/tmp"), IsEmpty());
}

TEST_F(LeasesTest, AStoreThatCannotBeWrittenIsAnError) {
  const auto first = Begin(kFirst);
  ASSERT_TRUE(std::system(absl::StrCat("rm -r ", store_.folder(), " && touch ", store_.folder()).c_str()) == 0);
  EXPECT_TRUE(absl::IsUnavailable(first->TryClaim({"a"}).status()));
  EXPECT_TRUE(absl::IsUnavailable(first->Renew({})));
}

// Whichever call fails, there are never two owners, and once the disk works, no action is blocked forever.
TEST_F(LeasesTest, EachCallMayFail) {
  int cases = 0, failed = 0;
  for (const int error : {ENOSPC, EIO, EINTR, EDQUOT, ESTALE}) {
    for (const bool for_ever : {false, true}) {
      for (int64_t at = 0;; ++at) {
        SCOPED_TRACE(absl::StrCat(std::strerror(error), for_ever ? " from call " : " at call ", at));
        std::filesystem::remove_all(store_.folder());
        FailingCalls calls(FailingCalls::Fault::kError, error, at, for_ever);
        std::unique_ptr<Leases> first;
        std::string owner = "nobody";
        {
          const ScopedSystemCalls scope(&calls);
          LeaseOptions options;
          options.lease = absl::Seconds(60);
          options.clock = [this] { return now_; };
          options.run_id = kFirst;
          absl::StatusOr<std::unique_ptr<Leases>> begun = Leases::Begin(store_, options);
          absl::Status status = begun.status();
          if (begun.ok()) {
            first = *std::move(begun);
            first->TryClaim({"done"}).IgnoreError();
            first->Release("done");
            const absl::StatusOr<std::string> claimed = first->TryClaim({"a", "b"});
            status = claimed.status();
            owner = claimed.value_or("nobody");
            first->Renew({}).IgnoreError();
          }
          if (!status.ok()) {
            ++failed;
            EXPECT_TRUE(absl::IsUnavailable(status));
            // Or the parent of the store's folder.
            const std::string above = std::filesystem::path(store_.folder()).parent_path();
            EXPECT_THAT(std::string(status.message()), HasSubstr(above));
          }
        }
        ++cases;
        const auto second = Begin(kSecond);
        // Actions that it could not release are still its own.
        if (first != nullptr) {
          const std::string of_done = *first->TryClaim({"done"});
          EXPECT_EQ(of_done, "");
        }
        for (const char* key : {"a", "b"}) {
          const std::string of_key = *second->TryClaim({key});
          if (owner.empty()) {
            EXPECT_EQ(of_key, kFirst);
          }
          second->Release(key);
        }
        first.reset();
        for (const char* key : {"a", "b", "done"}) second->OwnerOf(key);  // looks for signs of life
        now_ += absl::Seconds(60);
        EXPECT_EQ(*second->TryClaim({"a", "b", "done"}), "");
        if (calls.calls() <= at || HasFailure()) break;
      }
    }
  }
  std::cout << "R5: " << cases << " cases of claims, of which " << failed << " failed with a message\n";
  EXPECT_GT(failed, 100);
}

// The following tests race real processes.

pid_t Fork(const std::function<void()>& work) {
  const pid_t pid = fork();
  if (pid == 0) {
    work();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  return pid;
}

void WaitFor(const std::vector<pid_t>& children) {
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

// Returns how often each line occurs in the files claimed.0, claimed.1 ...
std::map<std::string, int> Claimed(const Store& store, int processes) {
  std::map<std::string, int> claimed;
  for (int p = 0; p < processes; ++p) {
    const std::string file = ReadFile(absl::StrCat(store.folder(), "/claimed.", p)).value_or("");
    for (absl::string_view line : absl::StrSplit(file, '\n', absl::SkipEmpty())) ++claimed[std::string(line)];
  }
  return claimed;
}

TEST_F(LeasesTest, EachActionIsWonByOneOfEightProcesses) {
  constexpr int kProcesses = 8, kActions = 100;
  ASSERT_TRUE(MakeFolders(store_.folder()).ok());
  // Claims of a dead process: all eight processes try to take them over.
  const pid_t dead = Fork([&] {
    const auto leases = Leases::Begin(store_);
    for (int a = 0; a < kActions; a += 2) EXPECT_EQ(*(*leases)->TryClaim({absl::StrCat(a)}), "");
    kill(getpid(), SIGKILL);
  });
  waitpid(dead, nullptr, 0);
  EXPECT_THAT(Running(), SizeIs(kActions / 2));
  std::vector<pid_t> children;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(Fork([&] {
      close(ready[1]);
      char none;
      (void)!read(ready[0], &none, 1);  // until all processes are ready
      const auto leases = Leases::Begin(store_);
      std::ofstream claimed(absl::StrCat(store_.folder(), "/claimed.", p));
      // Repeatedly, since a process that cleans up after dead ones holds their claims for a moment.
      while (Claimed(store_, kProcesses).size() < kActions) {
        for (int a = 0; a < kActions; ++a) {
          const std::string action = absl::StrCat(a);
          if ((*leases)->OwnerOf(action) == (*leases)->run_id()) continue;
          const absl::StatusOr<std::string> owner = (*leases)->TryClaim({action});
          EXPECT_TRUE(owner.ok()) << owner.status();
          if (owner->empty()) claimed << action << std::endl;
        }
      }
      // A process that ends releases its claims, so it must wait until the last one has looked.
      std::ofstream(absl::StrCat(store_.folder(), "/done.", p)) << p;
      for (int other = 0; other < kProcesses; ++other) {
        while (!FileExists(absl::StrCat(store_.folder(), "/done.", other))) usleep(1000);
      }
    }));
  }
  close(ready[0]);
  close(ready[1]);
  WaitFor(children);
  const std::map<std::string, int> claimed = Claimed(store_, kProcesses);
  EXPECT_THAT(claimed, SizeIs(kActions));
  for (const auto& [action, times] : claimed) EXPECT_EQ(times, 1) << action;
}

TEST_F(LeasesTest, AStoppedProcessLosesItsClaimAndNoticesWhenItResumes) {
  LeaseOptions options;
  options.lease = absl::Seconds(1);
  const pid_t sleeper = Fork([&] {
    const auto leases = Leases::Begin(store_, options);
    EXPECT_EQ(*(*leases)->TryClaim({"a"}), "");
    std::ofstream(store_.folder() + "/claimed.0") << "a" << std::endl;
    std::vector<std::string> lost;
    while (lost.empty()) {
      usleep(50000);
      EXPECT_TRUE((*leases)->Renew({}).ok());
      lost = (*leases)->Lost();
    }
    EXPECT_THAT(lost, ElementsAre("a"));
    EXPECT_THAT((*leases)->TryClaim({"a"}).value(), HasSubstr(absl::StrCat(".", getppid(), ".")));
  });
  while (Claimed(store_, 1).empty()) usleep(1000);
  const auto leases = Leases::Begin(store_, options);
  ASSERT_TRUE(leases.ok());
  for (int looks = 0; looks < 30; ++looks) {
    EXPECT_NE((*leases)->OwnerOf("a"), "");  // it lives
    usleep(50000);
  }
  kill(sleeper, SIGSTOP);
  while (!(*leases)->TryClaim({"a"})->empty()) usleep(50000);
  kill(sleeper, SIGCONT);
  WaitFor({sleeper});
  EXPECT_EQ((*leases)->OwnerOf("a"), (*leases)->run_id());
}

TEST(IsRunOf, AVariantIsAnotherStudy) {
  RunState run;
  run.set_experiment("sweep");
  EXPECT_TRUE(IsRunOf(run, "sweep", {}));
  EXPECT_FALSE(IsRunOf(run, "other", {}));
  run.add_laid_over("--set=training.epochs=2");
  EXPECT_FALSE(IsRunOf(run, "sweep", {}));
  EXPECT_TRUE(IsRunOf(run, "sweep", {"--set=training.epochs=2"}));
}

}  // namespace
}  // namespace openset

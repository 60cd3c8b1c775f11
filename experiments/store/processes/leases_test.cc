#include "experiments/store/processes/leases.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/proto/record_file.h"
#include "core/testing/fault_calls.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

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
  ASSERT_OK_AND_ASSIGN(const auto leases, Leases::Begin(store_, options));
  for (int looks = 0; looks < 30; ++looks) {
    EXPECT_NE(leases->OwnerOf("a"), "");  // it lives
    usleep(50000);
  }
  kill(sleeper, SIGSTOP);
  while (!leases->TryClaim({"a"})->empty()) usleep(50000);
  kill(sleeper, SIGCONT);
  WaitFor({sleeper});
  EXPECT_EQ(leases->OwnerOf("a"), leases->run_id());
}

TEST(IsRunOf, AVariantIsAnotherStudy) {
  RunState run;
  run.set_experiment("sweep");
  EXPECT_TRUE(IsRunOf(run, "sweep", {}));
  EXPECT_FALSE(IsRunOf(run, "other", {}));
  run.add_overrides("--set=training.epochs=2");
  EXPECT_FALSE(IsRunOf(run, "sweep", {}));
  EXPECT_TRUE(IsRunOf(run, "sweep", {"--set=training.epochs=2"}));
}

// Untrusted claims and signs of life in a store.

namespace fs = std::filesystem;

constexpr char kOurs[] = "ours.0123abcd.10.1";
constexpr char kRunningElsewhere[] = "theirs.0123abcd.20.2";
constexpr char kX[] = "x.0123abcd.1.1+1", kY[] = "y.0123abcd.2.2+1";

class HostileLeasesTest : public ::testing::Test {
 protected:
  HostileLeasesTest()
      : store_(JoinPath(testing::TempDir(), testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(store_.folder());
    ours_ = Begin(kOurs);
    theirs_ = Begin(kRunningElsewhere);
  }

  std::unique_ptr<Leases> Begin(const std::string& run_id) {
    LeaseOptions options;
    options.lease = absl::Seconds(60);
    options.clock = [this] { return now_; };
    options.run_id = run_id;
    return *Leases::Begin(store_, options);
  }

  std::string Running(const std::string& name) const { return absl::StrCat(store_.folder(), "/running/", name); }
  void Put(const std::string& name, const std::string& content) const {
    ASSERT_THAT(WriteFileAtomically(Running(name), content), IsOk());
  }
  void PutState(const std::string& file, const RunState& state) const {
    ASSERT_THAT(WriteFileAtomically(absl::StrCat(store_.folder(), "/runs/", file), EncodeRecord(state)), IsOk());
  }

  // The first process takes over a dead claim, the second waits for it, and it can be released.
  void ExpectTakenOverOnce() {
    EXPECT_THAT(ours_->TryClaim({"a"}), IsOkAndHolds("")) << "ours";
    EXPECT_THAT(theirs_->TryClaim({"a"}), IsOkAndHolds(kOurs)) << "theirs";
    EXPECT_EQ(theirs_->OwnerOf("a"), kOurs);
    EXPECT_THAT(ours_->Lost(), IsEmpty());
    ours_->Release("a");
    EXPECT_THAT(ours_->TryClaim({"a"}), IsOkAndHolds(""));
    ours_->Release("a");
  }

  const Store store_;
  absl::Duration now_ = absl::Hours(1);
  std::unique_ptr<Leases> ours_, theirs_;
};

TEST_F(HostileLeasesTest, InvalidClaimsBelongToNobody) {
  const std::string path = Running("a");
  const std::vector<std::pair<std::string, std::function<void()>>> things = {
      {"nothing in it", [&] { Put("a", ""); }},
      {"a line", [&] { Put("a", "mine\n"); }},
      {"no number", [&] { Put("a", kOurs); }},
      {"another number", [&] { Put("a", absl::StrCat(kRunningElsewhere, "+01\n")); }},
      {"a path", [&] { Put("a", "../../runs/x.0123abcd.1.1+1\n"); }},
      {"bytes", [&] { Put("a", std::string("\0\xff\x1b[31m", 7)); }},
      {"a long name", [&] { Put("a", absl::StrCat(std::string(180, 'h'), ".0123abcd.1.1+1\n")); }},
      {"a huge file", [&] { Put("a", ""), fs::resize_file(path, int64_t{1} << 40); }},
      {"a pipe", [&] { ASSERT_EQ(mkfifo(path.c_str(), 0666), 0); }},
      {"a folder", [&] { fs::create_directory(path); }},
      {"a folder that is not empty", [&] { fs::create_directories(path + "/below"); }},
      {"a link that leads nowhere", [&] { fs::create_symlink("/nowhere/at/all", path); }},
      {"a link to itself", [&] { fs::create_symlink(path, path); }},
      {"a link to a file", [&] { fs::create_symlink("/proc/self/status", path); }}};
  for (const auto& [what, put] : things) {
    SCOPED_TRACE(what);
    fs::remove_all(store_.folder() + "/running");
    fs::create_directory(store_.folder() + "/running");
    put();
    ExpectTakenOverOnce();
  }
}

// A run would search for their end forever.
TEST_F(HostileLeasesTest, CircularClaimsBelongToNobody) {
  Put("a", kX);
  Put(absl::StrCat("a~", kX), kX);
  ExpectTakenOverOnce();
  fs::remove_all(Running(""));
  fs::create_directory(Running(""));
  Put("a", kX);
  Put(absl::StrCat("a~", kX), kY);
  Put(absl::StrCat("a~", kY), kX);
  // With more invalid claims after it.
  ASSERT_EQ(mkfifo(Running("a~damaged1").c_str(), 0666), 0);
  Put("a~damaged2", kY);
  ExpectTakenOverOnce();
}

// A state with a lease time that no process writes is invalid: the observer's own lease time counts.
TEST_F(HostileLeasesTest, AnInvalidLeaseBlocksNoLongerThanTheOwnLease) {
  for (const int32_t seconds : {std::numeric_limits<int32_t>::max(), 601, 0, -1, std::numeric_limits<int32_t>::min()}) {
    const std::string key = absl::StrCat("a", seconds);
    SCOPED_TRACE(key);
    Put(key, kX);
    RunState state;
    state.set_id("x.0123abcd.1.1");
    state.set_sequence(7);
    state.set_lease_seconds(seconds);
    PutState("x.0123abcd.1.1.rec", state);
    const auto fresh = Begin("fresh.0123abcd.3.3");  // has not seen it before
    EXPECT_EQ(fresh->OwnerOf(key), "x.0123abcd.1.1");
    now_ += absl::Seconds(60);
    EXPECT_THAT(fresh->TryClaim({key}), IsOkAndHolds(""));
  }
}

// The longest lease that a process can write.
TEST_F(HostileLeasesTest, NoLeaseIsLongerThanTenMinutes) {
  Put("a", kX);
  RunState state;
  state.set_id("x.0123abcd.1.1");
  state.set_sequence(7);
  state.set_lease_seconds(600);
  PutState("x.0123abcd.1.1.rec", state);
  const auto fresh = Begin("fresh.0123abcd.3.3");
  EXPECT_EQ(fresh->OwnerOf("a"), "x.0123abcd.1.1");
  now_ += absl::Minutes(10) - absl::Seconds(1);
  EXPECT_EQ(fresh->OwnerOf("a"), "x.0123abcd.1.1");
  now_ += absl::Seconds(1);
  EXPECT_EQ(fresh->OwnerOf("a"), "");
}

// Only a state that its own process may have written is a sign of life.
TEST_F(HostileLeasesTest, StatesOfOtherRunsAreIgnored) {
  RunState state;
  state.set_id("other.0123abcd.1.1");
  state.set_lease_seconds(600);
  for (const std::function<void()>& put : std::vector<std::function<void()>>{
           [&] { PutState("x.0123abcd.1.1.rec", state); },
           [&] { fs::resize_file(store_.folder() + "/runs/x.0123abcd.1.1.rec", int64_t{1} << 40); },
           [&] {
             fs::remove(store_.folder() + "/runs/x.0123abcd.1.1.rec");
             ASSERT_EQ(mkfifo((store_.folder() + "/runs/x.0123abcd.1.1.rec").c_str(), 0666), 0);
           }}) {
    put();
    Put("a", kX);
    const auto fresh = Begin("fresh.0123abcd.3.3");
    EXPECT_EQ(fresh->OwnerOf("a"), "x.0123abcd.1.1");
    now_ += absl::Seconds(60);  // by the observer's clock
    EXPECT_EQ(fresh->OwnerOf("a"), "");
  }
}

TEST_F(HostileLeasesTest, InvalidStatesAreNotListed) {
  ours_.reset();
  theirs_.reset();
  RunState good;
  good.set_id("x.0123abcd.1.1");
  good.set_pid(1);
  good.mutable_running()->Add()->mutable_progress()->set_loss(std::numeric_limits<double>::quiet_NaN());
  PutState("x.0123abcd.1.1.rec", good);
  ASSERT_THAT(RunsOf(store_), SizeIs(1));
  EXPECT_FALSE(RunsOf(store_)[0].running(0).progress().has_loss());
  const std::vector<std::function<void(RunState*)>> forgeries = {
      [](RunState* s) { s->set_id("y.0123abcd.1.1"); },
      [](RunState* s) { s->clear_id(); },
      [](RunState* s) { s->set_pid(-7); },
      [](RunState* s) { s->set_sequence(-7); },
      [](RunState* s) { s->set_lease_seconds(std::numeric_limits<int32_t>::max()); },
      [](RunState* s) { s->set_started_at_seconds(-1e300); },
      [](RunState* s) { s->set_updated_at_seconds(std::numeric_limits<double>::infinity()); },
      [](RunState* s) { s->set_fraction(std::numeric_limits<double>::quiet_NaN()); },
      [](RunState* s) { s->set_fraction(1e9); },
      [](RunState* s) { s->set_actions(-1); },
      [](RunState* s) { s->set_seconds_left(-1); },
      [](RunState* s) { s->mutable_running(0)->mutable_progress()->set_epoch(std::numeric_limits<int32_t>::min()); },
      [](RunState* s) { s->mutable_running(0)->mutable_progress()->set_fraction(-1); }};
  for (size_t f = 0; f < forgeries.size(); ++f) {
    RunState state = good;
    forgeries[f](&state);
    PutState("x.0123abcd.1.1.rec", state);
    EXPECT_THAT(RunsOf(store_), IsEmpty()) << f;
  }
  PutState("x.0123abcd.1.1.rec", good);
  // With a name that is not a run's.
  for (const char* name : {"diary.rec", "x.0123abcd.-1.1.rec", "x.0123abcd.1.1.txt"}) PutState(name, good);
  EXPECT_THAT(RunsOf(store_), SizeIs(1));
}

TEST_F(HostileLeasesTest, WhatPeopleKeepThereStays) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
  for (const char* file : {"running/my~notes", "running/a~b", "runs/diary.rec", "runs/notes"}) {
    const std::string path = JoinPath(store_.folder(), file);
    ASSERT_THAT(WriteFileAtomically(path, "kept"), IsOk());
    fs::last_write_time(path, old);
  }
  // Files of takeovers, and the state of a run that ended long ago.
  for (const std::string& file :
       {absl::StrCat("running/a~", kX), std::string("running/a~damaged1"), std::string("runs/x.0123abcd.1.1.rec")}) {
    const std::string path = JoinPath(store_.folder(), file);
    ASSERT_THAT(WriteFileAtomically(path, "old"), IsOk());
    fs::last_write_time(path, old);
  }
  const auto another = Begin("another.0123abcd.4.4");
  EXPECT_THAT(*ListFolder(store_.folder() + "/running"), ElementsAre("a~b", "my~notes"));
  EXPECT_THAT(*ListFolder(store_.folder() + "/runs"),
              ElementsAre("another.0123abcd.4.4.rec", "diary.rec", "notes", absl::StrCat(kOurs, ".rec"),
                          absl::StrCat(kRunningElsewhere, ".rec")));
}

}  // namespace
}  // namespace openset

// Untrusted claims and signs of life in a store.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/record_file.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/processes/leases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kOurs[] = "ours.0123abcd.10.1";
constexpr char kTheirs[] = "theirs.0123abcd.20.2";
constexpr char kX[] = "x.0123abcd.1.1+1", kY[] = "y.0123abcd.2.2+1";

class HostileLeasesTest : public ::testing::Test {
 protected:
  HostileLeasesTest()
      : store_(JoinPath(testing::TempDir(), testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(store_.folder());
    ours_ = Begin(kOurs);
    theirs_ = Begin(kTheirs);
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
      {"another number", [&] { Put("a", absl::StrCat(kTheirs, "+01\n")); }},
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
  good.mutable_running()->Add()->set_loss(std::numeric_limits<double>::quiet_NaN());
  PutState("x.0123abcd.1.1.rec", good);
  ASSERT_THAT(RunsOf(store_), SizeIs(1));
  EXPECT_FALSE(RunsOf(store_)[0].running(0).has_loss());
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
      [](RunState* s) { s->mutable_running(0)->set_epoch(std::numeric_limits<int32_t>::min()); },
      [](RunState* s) { s->mutable_running(0)->set_fraction(-1); }};
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
                          absl::StrCat(kTheirs, ".rec")));
}

}  // namespace
}  // namespace openset

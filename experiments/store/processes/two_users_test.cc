// Two users of a machine share a store. The tests need root to create the users, and are skipped otherwise.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "core/testing/users.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/processes/orphans.h"
#include "experiments/store/testing/records.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

const std::string& NoUsers() {
  static const std::string* const why = new std::string(NoUsersBecause(testing::TempDir()));
  return *why;
}

class TwoUsersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NoUsers().empty()) GTEST_SKIP() << NoUsers();
    fs::remove_all(TestFolder());
    fs::create_directories(TestFolder());
    // Like a group's folder: files made in it belong to the group.
    ASSERT_EQ(chown(TestFolder().c_str(), anna_.id, anna_.group), 0);
    ASSERT_EQ(chmod(TestFolder().c_str(), 02775), 0);
  }

  // Both users have this umask.
  void Mask(mode_t mask) { anna_.mask = bert_.mask = mask; }

  // Runs a check as a user; if it fails, prints why.
  static testing::AssertionResult Succeeds(const User& user, const std::function<absl::Status()>& act) {
    const int code = RunAs(user, [&act] {
      const absl::Status status = act();
      if (!status.ok()) std::cerr << status << std::endl;
      return status.ok() ? 0 : 1;
    });
    return code == 0 ? testing::AssertionSuccess() : testing::AssertionFailure() << "exit code " << code;
  }
  static absl::Status Expect(bool is_true, const std::string& what) {
    return is_true ? absl::OkStatus() : absl::InternalError(what);
  }

  absl::Status Commit(const std::string& id) const {
    return store_.CommitRecord(TestRecord(TestKey(id), "m", 0, 0.5)).status();
  }

  User anna_{64001}, bert_{64002};
  const Store store_{TestFolder() + "/store"};
};

TEST_F(TwoUsersTest, AReadOnlyUserCanReadAndGetsAOneLineError) {
  ASSERT_TRUE(Succeeds(anna_, [&] { return Commit("aa"); }));
  EXPECT_TRUE(Succeeds(bert_, [&] { return store_.CheckIsStore(); }));
  EXPECT_TRUE(Succeeds(bert_, [&] { return store_.LoadRecord(TestKey("aa")).status(); }));
  const auto refused = [&](const std::function<absl::Status()>& act) {
    return Succeeds(bert_, [&] {
      const absl::Status status = act();
      return Expect(absl::IsUnavailable(status) && absl::StrContains(status.message(), store_.folder()) &&
                        absl::EndsWith(status.message(), "Permission denied"),
                    status.ToString());
    });
  };
  EXPECT_TRUE(refused([&] { return Commit("bb"); }));
  EXPECT_TRUE(refused([&] { return store_.Quarantine(store_.RecordPath(TestKey("aa")), "why").status(); }));
  EXPECT_TRUE(refused([&] { return Leases::Begin(store_).status(); }));
  EXPECT_TRUE(refused([&] { return store_.Remove(store_.RecordPath(TestKey("aa"))); }));
  EXPECT_TRUE(*store_.HasRecord(TestKey("aa")));
}

TEST_F(TwoUsersTest, AGroupSharesAStore) {
  Mask(002);
  ASSERT_TRUE(Succeeds(anna_, [&] { return Commit("aa"); }));
  EXPECT_TRUE(Succeeds(bert_, [&] { return Commit("aabb"); }));
  EXPECT_TRUE(Succeeds(anna_, [&] { return Commit("bb"); }));
  // Each may quarantine, remove and clean up files that the other has made.
  EXPECT_TRUE(Succeeds(bert_, [&] { return store_.Quarantine(store_.RecordPath(TestKey("aa")), "why").status(); }));
  EXPECT_TRUE(Succeeds(anna_, [&] { return store_.Remove(store_.RecordPath(TestKey("aabb"))); }));
  EXPECT_FALSE(*store_.HasRecord(TestKey("aabb")));
  ASSERT_TRUE(Succeeds(anna_, [&] {
    CommitTestOutputs(store_, TestKey("cc"));
    return Expect(*store_.HasOutputs(TestKey("cc")), "no outputs");
  }));
  EXPECT_TRUE(Succeeds(bert_, [&] { return store_.Remove(store_.OutputsFolder(TestKey("cc"))); }));
  EXPECT_FALSE(*store_.HasOutputs(TestKey("cc")));
  struct stat info;
  ASSERT_EQ(stat(store_.RecordPath(TestKey("bb")).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0664u);
  EXPECT_EQ(info.st_gid, anna_.group);
}

TEST_F(TwoUsersTest, AnUnreadableStoreIsReported) {
  Mask(077);
  ASSERT_TRUE(Succeeds(anna_, [&] { return Commit("aa"); }));
  EXPECT_TRUE(Succeeds(bert_, [&] {
    const absl::Status status = store_.CheckIsStore();
    return Expect(absl::IsPermissionDenied(status) && absl::StrContains(status.message(), store_.folder()) &&
                      absl::EndsWith(status.message(), "Permission denied"),
                  status.ToString());
  }));
  for (const auto& entry : fs::recursive_directory_iterator(store_.folder())) {
    EXPECT_EQ(fs::status(entry).permissions() & (fs::perms::group_all | fs::perms::others_all), fs::perms::none)
        << entry.path();
  }
}

// Anna's process claims an action and has a temporary file.
TEST_F(TwoUsersTest, KeepsClaimsAndTemporariesOfALiveUser) {
  Mask(002);
  ASSERT_TRUE(Succeeds(anna_, [&] { return store_.Make(); }));
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t anna = StartAs(anna_, [&] {
    const auto leases = Leases::Begin(store_);
    const bool claimed = leases.ok() && (*leases)->TryClaim({"a"}).value_or("an error").empty();
    const bool staged = store_.NewStagingFolder("mine").ok();
    const char word = claimed && staged ? 'y' : 'n';
    if (write(ready[1], &word, 1) == 1) pause();
    return 0;
  });
  char word = 0;
  ASSERT_EQ(read(ready[0], &word, 1), 1);
  ASSERT_EQ(word, 'y');
  const auto look = [&](bool lives) {
    return Succeeds(bert_, [&]() -> absl::Status {
      if (Orphans(store_, absl::Now())->size() != (lives ? 0u : 1u)) return absl::InternalError("orphans");
      SweepTemporaries(store_);
      const auto leases = Leases::Begin(store_);
      if (!leases.ok()) return leases.status();
      const absl::StatusOr<std::string> owner = (*leases)->TryClaim({"a"});
      if (!owner.ok()) return owner.status();
      return Expect(owner->empty() != lives, *owner);
    });
  };
  EXPECT_TRUE(look(true));
  kill(anna, SIGKILL);
  waitpid(anna, nullptr, 0);
  EXPECT_TRUE(look(false));
  for (const char* folder : {"tmp", "runs"}) {
    EXPECT_TRUE(fs::is_empty(store_.folder() + "/" + folder)) << folder;
  }
}

// Unreadable files of another user in place of claims, signs of life and temporaries.
TEST_F(TwoUsersTest, AnUnreadableClaimIsAnError) {
  Mask(002);
  ASSERT_TRUE(Succeeds(anna_, [&] { return store_.Make(); }));
  ASSERT_TRUE(Succeeds(anna_, [&]() -> absl::Status {
    fs::create_directories(store_.folder() + "/running");
    std::ofstream(store_.folder() + "/running/a") << "x.0123abcd.1.1+1\n";
    fs::permissions(store_.folder() + "/running/a", fs::perms::owner_read);
    return absl::OkStatus();
  }));
  EXPECT_TRUE(Succeeds(bert_, [&] {
    const auto leases = Leases::Begin(store_);
    const absl::Status status = (*leases)->TryClaim({"a"}).status();
    return Expect(absl::IsPermissionDenied(status) && absl::StrContains(status.message(), "running/a"),
                  status.ToString());
  }));
}

}  // namespace
}  // namespace openset

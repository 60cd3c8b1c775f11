#include "experiments/store/store.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StoreTest : public ::testing::Test {
 protected:
  StoreTest()
      : store_(JoinPath(::testing::TempDir(), ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(store_.folder());
  }

  static TrialRecord Record(const std::string& id, double value) {
    TrialRecord record;
    record.set_schema_version(kSchemaVersion);
    record.set_trial_id(id);
    record.add_metric()->set_value(value);
    return record;
  }

  const Store store_;
};

TEST_F(StoreTest, LooksAndReadsWithoutMakingAnything) {
  EXPECT_FALSE(store_.HasRecord("abcd"));
  EXPECT_EQ(store_.LoadRecord("abcd").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_.LoadFailure("abcd").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_.RunningBy("abcd"), "");
  store_.SweepTemporaries();
  EXPECT_FALSE(FileExists(store_.folder()));
}

TEST_F(StoreTest, TheFirstRecordOfATrialStays) {
  EXPECT_TRUE(*store_.CommitRecord(Record("abcd", 1)));
  EXPECT_FALSE(*store_.CommitRecord(Record("abcd", 2)));
  EXPECT_TRUE(store_.HasRecord("abcd"));
  EXPECT_EQ(store_.LoadRecord("abcd")->metric(0).value(), 1);
  EXPECT_EQ(store_.RecordPath("abcd"), store_.folder() + "/records/ab/abcd.rec");
}

TEST_F(StoreTest, DamagedAndNewerRecordsAreNamed) {
  ASSERT_TRUE(*store_.CommitRecord(Record("abcd", 1)));
  std::ofstream(store_.RecordPath("abcd"), std::ios::app) << "x";
  const absl::Status damaged = store_.LoadRecord("abcd").status();
  EXPECT_EQ(damaged.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(damaged.message()), HasSubstr(store_.RecordPath("abcd")));
  EXPECT_THAT(std::string(damaged.message()), HasSubstr("remove it"));

  TrialRecord newer = Record("ef00", 1);
  newer.set_schema_version(kSchemaVersion + 1);
  ASSERT_TRUE(*store_.CommitRecord(newer));
  EXPECT_EQ(store_.LoadRecord("ef00").status().code(), absl::StatusCode::kUnimplemented);
}

TEST_F(StoreTest, FoldersAppearWholeAndTheFirstStays) {
  for (const char* content : {"first", "second"}) {
    const absl::StatusOr<std::string> staging = store_.NewStagingFolder("abcd");
    ASSERT_TRUE(staging.ok());
    std::ofstream(JoinPath(*staging, kOutputsFile)) << content;
    EXPECT_FALSE(store_.HasOutputs("abcd") && content == std::string("first"));
    ASSERT_TRUE(store_.CommitFolder(*staging, store_.OutputsFolder("abcd")).ok());
    EXPECT_FALSE(FileExists(*staging));
  }
  EXPECT_TRUE(store_.HasOutputs("abcd"));
  EXPECT_EQ(*ReadFile(JoinPath(store_.OutputsFolder("abcd"), kOutputsFile)), "first");
}

TEST_F(StoreTest, FailuresAreKeptUntilASuccess) {
  FailureRecord failure;
  failure.set_key("abcd");
  failure.set_message("first");
  ASSERT_TRUE(store_.WriteFailure(failure).ok());
  failure.set_message("second");
  ASSERT_TRUE(store_.WriteFailure(failure).ok());
  EXPECT_EQ(store_.LoadFailure("abcd")->message(), "second");
  store_.RemoveFailure("abcd");
  EXPECT_EQ(store_.LoadFailure("abcd").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(StoreTest, SaysWhoRuns) {
  store_.MarkRunning("abcd");
  EXPECT_THAT(store_.RunningBy("abcd"), HasSubstr(absl::StrCat(" ", getpid())));
  store_.UnmarkRunning("abcd");
  EXPECT_EQ(store_.RunningBy("abcd"), "");
}

TEST_F(StoreTest, SweepsWhatDeadProcessesLeft) {
  const absl::StatusOr<std::string> mine = store_.NewStagingFolder("abcd");
  ASSERT_TRUE(mine.ok());
  // The same name with the number of a process that can't exist.
  std::string dead = *mine;
  const std::string pid = absl::StrCat(".", getpid(), ".");
  dead.replace(dead.rfind(pid), pid.size(), ".999999999.");
  ASSERT_TRUE(MakeFolders(dead).ok());
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  ASSERT_TRUE(MakeFolders(store_.folder() + "/running").ok());
  std::ofstream(store_.folder() + "/running/ef00") << host << " 999999999";
  EXPECT_EQ(store_.RunningBy("ef00"), "");

  store_.SweepTemporaries();
  EXPECT_TRUE(FileExists(*mine));
  EXPECT_FALSE(FileExists(dead));
  EXPECT_THAT(*ListFolder(store_.folder() + "/running"), IsEmpty());
}

}  // namespace
}  // namespace openset

#include "experiments/store/store_usage.h"

#include <filesystem>
#include <fstream>

#include "core/files/files.h"
#include "core/testing/failing_disk.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/testing/records.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

class StoreUsageTest : public ::testing::Test {
 protected:
  StoreUsageTest() : store_(testing::TempDir() + "/usage") { std::filesystem::remove_all(store_.folder()); }

  void Commit(const std::string& id, const std::string& study, const std::string& user, const std::string& checkpoint,
              double ended) const {
    TrialRecord record = TestRecord(TestKey(id), "m", 0, 0.5, "host", 1);
    record.mutable_trial()->set_experiment(study);
    StageProvenance* stage = record.mutable_provenance()->add_stage();
    stage->set_stage(StageProvenance::TRAIN);
    stage->set_key(TestKey(checkpoint));
    stage->set_user_name(user);
    stage->set_ended_at_seconds(ended);
    EXPECT_THAT(store_.CommitRecord(record), IsOk());
  }

  int64_t RecordBytes(const std::string& id) const {
    return static_cast<int64_t>(std::filesystem::file_size(store_.RecordPath(TestKey(id))));
  }

  const Store store_;
};

// The checkpoint of 1,000 bytes is shared: it counts once for each of the studies.
TEST_F(StoreUsageTest, IncludesRecordsAndTheirInputs) {
  Commit("aa", "first", "anna", "cc", 30);
  Commit("ab", "first", "", "cc", 20);
  Commit("ac", "second", "bob", "cc", 10);
  const std::string folder = store_.CheckpointFolder(TestKey("cc"));
  ASSERT_THAT(MakeFolders(folder), IsOk());
  std::ofstream(folder + "/checkpoint.safetensors") << std::string(1000, 'x');
  UnreadRecords unread;
  const std::vector<StudyUsage> usage = UsageByStudy(store_, &unread);
  ASSERT_EQ(usage.size(), 2);
  EXPECT_EQ(usage[0].name, "first");
  EXPECT_EQ(usage[0].records, 2);
  EXPECT_THAT(usage[0].users, ElementsAre("anna"));
  EXPECT_EQ(usage[0].last_seconds, 30);
  EXPECT_EQ(usage[0].bytes, RecordBytes("aa") + RecordBytes("ab") + 1000);
  EXPECT_EQ(usage[1].bytes, RecordBytes("ac") + 1000);
  const auto kinds = UsageByKind(store_, &unread);
  ASSERT_EQ(kinds.size(), 2);
  EXPECT_GT(kinds[0].second, kinds[1].second);
  EXPECT_EQ(kinds[0].second + kinds[1].second, 1000 + RecordBytes("aa") + RecordBytes("ab") + RecordBytes("ac"));
}

// "outputs/ab/KEY/" can't be listed: the size is not known, and the other folders count.
TEST_F(StoreUsageTest, AFolderThatCantBeReadIsNamed) {
  CommitTestOutputs(store_, TestKey("ab"));
  const std::string folder = store_.OutputsFolder(TestKey("ab"));
  std::ofstream(folder + "/../more") << "12345";
  std::filesystem::create_hard_link(folder + "/../more", store_.folder() + "/same");
  EXPECT_GT(*BytesBelow(store_.folder() + "/outputs"), 5);
  const FailingDisk failing("/outputs/ab/" + TestKey("ab"), "EIO", "list");
  const absl::Status status = BytesBelow(store_.folder() + "/outputs").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(folder));
  EXPECT_FALSE(BytesOfStore(store_).ok());
  UnreadRecords unread;
  EXPECT_THAT(UsageByKind(store_, &unread), ElementsAre(::testing::Pair("same", 5)));
  EXPECT_THAT(unread.unreadable, ElementsAre(std::string(status.message())));
}

TEST(BytesText, HasOneDecimal) {
  EXPECT_EQ(BytesText(999), "999 B");
  EXPECT_EQ(BytesText(3'400'000), "3.4 MB");
  EXPECT_EQ(BytesText(2'000'000'000'000'000), "2000.0 TB");
}

}  // namespace
}  // namespace openset

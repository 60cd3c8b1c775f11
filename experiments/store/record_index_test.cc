#include "experiments/store/record_index.h"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "core/files/digest.h"
#include "core/files/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::SizeIs;

// Ids consist of the digits of SHA-256.
std::string Id(char digit) { return std::string(64, digit); }

class RecordIndexTest : public ::testing::Test {
 protected:
  RecordIndexTest()
      : folder_(JoinPath(::testing::TempDir(), ::testing::UnitTest::GetInstance()->current_test_info()->name())),
        store_(folder_ + "/store") {
    std::filesystem::remove_all(folder_);
  }

  void Commit(char digit, const std::string& fingerprint) {
    TrialRecord record;
    record.set_schema_version(kSchemaVersion);
    record.set_trial_id(Id(digit));
    record.mutable_trial();
    record.add_metric()->set_name("accuracy");
    StageProvenance* stage = record.mutable_provenance()->add_stage();
    stage->set_stage(StageProvenance::EVALUATE);
    stage->set_key(Id(digit));
    stage->set_host("somewhere");
    ComponentProvenance* component = stage->add_component();
    component->set_family("ScoreSpec");
    component->set_name("energy");
    component->set_fingerprint(fingerprint);
    ASSERT_TRUE(*store_.CommitRecord(record));
    Age(digit);
  }
  // Makes the file look as if written an hour ago; the inode's change time can't be set, so this waits for it.
  void Age(char digit) {
    const auto hour = std::chrono::hours(1);
    std::filesystem::last_write_time(store_.RecordPath(Id(digit)),
                                     std::filesystem::file_time_type::clock::now() - hour);
  }
  // Waits until the files written so far have settled.
  static void Settle() {
    const std::time_t start = std::time(nullptr);
    while (std::time(nullptr) < start + 3) usleep(50000);
  }
  RecordIndex Index() const { return RecordIndex(store_, folder_ + "/index"); }

  const std::string folder_;
  const Store store_;
};

TEST_F(RecordIndexTest, ReadsARecordOnceAndAgainWhenItsFileHasChanged) {
  Commit('a', "1");
  Commit('b', "1");
  Commit('c', "2");
  Settle();
  RecordIndex first = Index();
  ASSERT_THAT(*first.Look(Id('a')), SizeIs(1));
  const RecordIndex::Stage a = first.Look(Id('a'))->at(0), b = first.Look(Id('b'))->at(0),
                           c = first.Look(Id('c'))->at(0);
  EXPECT_EQ(ToHex(a.key), Id('a'));
  EXPECT_EQ(a.sources->component(0).fingerprint(), "1");
  EXPECT_FALSE(a.sources->has_host());
  EXPECT_EQ(a.sources, b.sources);
  EXPECT_NE(a.sources, c.sources);
  EXPECT_EQ(first.reads(), 3);
  first.Save();

  RecordIndex second = Index();
  EXPECT_EQ(second.Look(Id('c'))->at(0).sources->component(0).fingerprint(), "2");
  EXPECT_EQ(ToHex(second.Look(Id('a'))->at(0).key), Id('a'));
  EXPECT_EQ(second.reads(), 0);

  // Corruption changes the file.
  std::ofstream(store_.RecordPath(Id('a')), std::ios::app) << "x";
  RecordIndex third = Index();
  EXPECT_EQ(third.Look(Id('a')).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(third.reads(), 1);
  EXPECT_EQ(third.Look(Id('d')).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(RecordIndexTest, DoesNotCacheFilesThatWereJustWritten) {
  Commit('a', "1");
  RecordIndex first = Index();
  EXPECT_TRUE(first.Look(Id('a')).ok());
  EXPECT_TRUE(first.Look(Id('a')).ok());
  EXPECT_EQ(first.reads(), 2);
  first.Save();
  EXPECT_FALSE(FileExists(folder_ + "/index"));
}

// Each record keeps its own stages, however many, and also if it was read again.
TEST_F(RecordIndexTest, KeepsTheStagesOfEachRecord) {
  TrialRecord record;
  record.set_schema_version(kSchemaVersion);
  record.mutable_trial();
  record.add_metric()->set_name("accuracy");
  for (const char digit : {'a', 'b', 'c'}) {
    record.set_trial_id(Id(digit));
    ASSERT_TRUE(*store_.CommitRecord(record));
    Age(digit);
    StageProvenance* stage = record.mutable_provenance()->add_stage();  // of the next record
    stage->set_stage(StageProvenance::TRAIN);
    stage->set_key(Id(digit));
  }
  record.mutable_provenance()->mutable_stage(0)->clear_key();
  record.set_trial_id(Id('d'));
  ASSERT_TRUE(*store_.CommitRecord(record));
  Age('d');
  Settle();
  RecordIndex first = Index();
  ASSERT_TRUE(first.Look(Id('c')).ok());
  first.Save();
  for (int run = 0; run < 3; ++run) {
    RecordIndex index = Index();
    EXPECT_THAT(*index.Look(Id('a')), SizeIs(0));
    ASSERT_THAT(*index.Look(Id('b')), SizeIs(1));
    EXPECT_EQ(ToHex(index.Look(Id('b'))->at(0).key), Id('a'));
    ASSERT_THAT(*index.Look(Id('c')), SizeIs(2));
    EXPECT_EQ(ToHex(index.Look(Id('c'))->at(0).key), Id('a'));
    EXPECT_EQ(ToHex(index.Look(Id('c'))->at(1).key), Id('b'));
    ASSERT_THAT(*index.Look(Id('d')), SizeIs(2));  // of the three
    EXPECT_EQ(ToHex(index.Look(Id('d'))->at(1).key), Id('c'));
    EXPECT_EQ(index.reads(), run == 0 ? 3 : 0);
    index.Save();
  }
}

TEST_F(RecordIndexTest, ACorruptIndexIsRebuilt) {
  Commit('a', "1");
  Settle();
  RecordIndex first = Index();
  ASSERT_TRUE(first.Look(Id('a')).ok());
  first.Save();
  for (const char* content : {"", "nonsense"}) {
    std::ofstream(folder_ + "/index") << content;
    RecordIndex second = Index();
    EXPECT_THAT(*second.Look(Id('a')), SizeIs(1));
    EXPECT_EQ(second.reads(), 1);
  }
}

}  // namespace
}  // namespace openset

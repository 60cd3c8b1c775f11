#include "experiments/store/records/load_fields.h"

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/system_calls.h"
#include "core/in_parallel.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/merge.h"
#include "experiments/store/store_contents.h"
#include "experiments/store/testing/records.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns a record that also has the fields that are not listed.
TrialRecord Example(int seed) {
  TrialRecord record = TestRecord(TestKey(absl::StrCat(1000 + seed)), "openauc", seed, 0.25 + seed);
  record.add_epoch()->set_loss(seed);
  record.mutable_details()->mutable_decisions()->set_rule("rule");
  return record;
}

// Omits syncs, since these records need not survive a power cut.
class WithoutSync : public SystemCalls {
 public:
  int Sync(int /*fd*/, SyncOf /*what*/) override { return 0; }
};

class LoadFieldsTest : public ::testing::Test {
 protected:
  LoadFieldsTest() : store_(::testing::TempDir() + "/load_fields_test") {
    std::filesystem::remove_all(store_.folder());
    WithoutSync calls;
    const ScopedSystemCalls scope(&calls);
    for (int seed = 0; seed < 130; ++seed) EXPECT_TRUE(store_.CommitRecord(Example(seed)).value());
  }

  ~LoadFieldsTest() override { LimitThreads(std::numeric_limits<int>::max()); }

  const Store store_;
};

TEST_F(LoadFieldsTest, EqualThoseOfCompleteRecordsForAnyNumberOfThreads) {
  std::vector<RecordFields> expected;
  for (const std::string& id : AllRecordIds(store_)) expected.push_back(FieldsOf(store_.LoadRecord(id).value()));
  ASSERT_EQ(expected.size(), 130);
  UnreadRecords unread;
  for (const int threads : {1, 4}) {
    LimitThreads(threads);
    EXPECT_EQ(LoadFields(store_, &unread), expected) << threads;
  }
  EXPECT_TRUE(unread.damaged.empty());
}

TEST_F(LoadFieldsTest, CorruptRecordsAreNamedAndOthersLoaded) {
  const std::vector<std::string> ids = AllRecordIds(store_);
  for (const int damaged : {7, 100}) {
    ASSERT_TRUE(WriteFileAtomically(store_.RecordPath(ids[damaged]), "nonsense").ok());
  }
  UnreadRecords unread;
  EXPECT_EQ(LoadFields(store_, &unread).size(), 128);
  EXPECT_THAT(unread.damaged, ElementsAre(store_.RecordPath(ids[7]) + ": not a record file",
                                          store_.RecordPath(ids[100]) + ": not a record file"));
  unread.damaged.clear();
  const std::vector<TrialRecord> records = LoadRecords(store_, &unread);
  ASSERT_EQ(records.size(), 128);
  EXPECT_EQ(records[6].trial_id(), ids[6]);
  EXPECT_EQ(records[7].trial_id(), ids[8]);
  EXPECT_TRUE(records[7].has_details());
  EXPECT_EQ(unread.damaged.size(), 2);
}

TEST_F(LoadFieldsTest, ListsTheEarliestRecordOfATrial) {
  TrialRecord later = Example(3), earlier = Example(3);
  later.mutable_provenance()->mutable_stage(0)->set_started_at_seconds(7);
  earlier.mutable_metric(0)->set_value(0.125);
  ASSERT_TRUE(store_.Remove(store_.RecordPath(later.trial_id())).ok());
  MergeCounts counts;
  for (const TrialRecord& record : {later, earlier}) {
    ASSERT_THAT(MergeRecord(store_, record, EncodeRecord(record), &counts), IsOk());
  }
  UnreadRecords unread;
  int found = 0;
  const std::vector<RecordFields> all = LoadFields(store_, &unread);
  for (const RecordFields& fields : all) {
    if (Find(fields, "trial")->value != later.trial_id()) continue;
    EXPECT_EQ(Find(fields, "openauc")->value, "0.125");
    ++found;
  }
  EXPECT_EQ(found, 1);
  EXPECT_TRUE(unread.damaged.empty());
}

TEST_F(LoadFieldsTest, ExcludedFieldsAreAbsent) {
  UnreadRecords unread;
  const std::vector<TrialRecord> records =
      LoadRecords(store_, &unread, {TrialRecord::kTrialFieldNumber, TrialRecord::kDetailsFieldNumber});
  ASSERT_EQ(records.size(), 130);
  for (const TrialRecord& record : records) {
    TrialRecord expected = store_.LoadRecord(record.trial_id()).value();
    expected.clear_trial();
    expected.clear_details();
    EXPECT_EQ(record.SerializeAsString(), expected.SerializeAsString());
  }
}

TEST_F(LoadFieldsTest, OtherSchemaVersionsAreCountedAndOthersLoaded) {
  for (const int seed : {1000, 1001}) {
    TrialRecord record = Example(seed);
    record.set_schema_version(kSchemaVersion + 1);
    ASSERT_TRUE(store_.CommitRecord(record).value());
  }
  UnreadRecords unread;
  EXPECT_EQ(LoadFields(store_, &unread).size(), 130);
  EXPECT_TRUE(unread.damaged.empty());
  EXPECT_THAT(unread.VersionLines(), ElementsAre("2 records are of schema version 3 and left out: this openset reads "
                                                 "version 2; 'openset records verify' moves them to quarantine/"));
}

// Excluded fields are not parsed, but required ones must be present.
TEST_F(LoadFieldsTest, RequiredFieldsAreCheckedEvenIfExcluded) {
  TrialRecord record = Example(1000);
  record.clear_trial();
  ASSERT_TRUE(
      store_.CommitRecordBytes(record.trial_id(), store_.RecordPath(record.trial_id()), EncodeRecord(record)).ok());
  UnreadRecords unread;
  EXPECT_EQ(LoadRecords(store_, &unread, {TrialRecord::kTrialFieldNumber}).size(), 130);
  EXPECT_THAT(unread.damaged, ElementsAre(store_.RecordPath(record.trial_id()) + ": trial: must be set"));
}

}  // namespace
}  // namespace openset

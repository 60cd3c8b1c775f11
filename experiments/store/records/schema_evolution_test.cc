// Stores of every released schema version, as their release wrote them (tools/peers/make_store_golden.py), can be read,
// and fields that a later openset of the same version added to a record are passed on.
#include <filesystem>

#include "core/files/runfiles.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/bundle.h"
#include "experiments/store/merge.h"
#include "experiments/store/records/record_fields.h"
#include "experiments/store/store_contents.h"
#include "experiments/store/testing/records.h"
#include "experiments/store/verify_store.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The trials with seeds 7 and 8: fields that the release's schema lacks do not change a key.
constexpr char kFirst[] = "926bce2b6fc273e09323cd51a61676b928a099d78a5297bcd5e1b7ce744d8db0";
constexpr char kSecond[] = "5cdd9cf901bf7749519c546ec4bca4c05699411a26018633542851f2246230dd";

// Makes a copy, since tests may not write next to their sources.
Store Golden(const std::string& version) {
  const std::string folder = JoinPath(TestFolder(), version);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(TestFolder());
  std::filesystem::copy(JoinPath(RunfilesFolder().value(), "openset/experiments/store/testdata/" + version), folder,
                        std::filesystem::copy_options::recursive);
  return Store(folder);
}

TEST(SchemaEvolution, Version2IsRead) {
  const Store store = Golden("version_2");
  ASSERT_THAT(store.CheckVersion(), IsOk());
  const std::string id = kFirst;
  const absl::StatusOr<TrialRecord> record = store.LoadRecord(id);
  ASSERT_THAT(record, IsOk());
  const RecordFields fields = FieldsOf(*record);
  EXPECT_EQ(Find(fields, "method")->value, "openauc");
  EXPECT_EQ(Find(fields, "lambda")->value, "0.1");
  EXPECT_EQ(Find(fields, "openauc")->value, "0.8125");
  EXPECT_EQ(Find(fields, "aurc"), nullptr);
  EXPECT_EQ(Find(fields, "host")->value, "here");
  EXPECT_EQ(record->trial().method().training().epochs(), 2);
  EXPECT_EQ(record->epoch(0).loss(), 1.5);
  const absl::StatusOr<StoreReport> report = VerifyStore(store);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->records, 2);
  EXPECT_THAT(report->damaged, IsEmpty());
}

TEST(SchemaEvolution, FieldsOfALaterOpensetAreKept) {
  const Store store = Golden("version_2");
  const std::string id = kSecond;
  const std::string bytes = *ReadFile(store.RecordPath(id));
  ASSERT_THAT(bytes, HasSubstr("from a later version"));
  // Also if it is decoded and encoded again.
  EXPECT_EQ(EncodeRecord(*store.LoadRecord(id)), bytes);
  const std::string bundle = TestFolder() + "/bundle.zip";
  ASSERT_THAT(WriteBundle(store, AllRecordIds(store), bundle), IsOk());
  MergeCounts counts;
  const Store all(TestFolder() + "/all");
  std::filesystem::remove_all(all.folder());
  ASSERT_THAT(MergeFrom(bundle, all, &counts), IsOk());
  EXPECT_EQ(*ReadFile(all.RecordPath(id)), bytes);
}

// In the form that openset 0.3 wrote for that store.
TEST(SchemaEvolution, ABundleOfVersion1IsRead) {
  const Store store = Golden("version_2"), all(TestFolder() + "/all");
  const std::string bundle = RunfilesFolder().value() + "/openset/experiments/store/testdata/bundle_1.zip";
  std::filesystem::remove_all(all.folder());
  MergeCounts counts;
  ASSERT_THAT(MergeFrom(bundle, all, &counts), IsOk());
  EXPECT_THAT(counts.damaged, IsEmpty());
  EXPECT_EQ(AllRecordIds(all), AllRecordIds(store));
  for (const char* id : {kFirst, kSecond}) {
    EXPECT_EQ(*ReadFile(all.RecordPath(id)), *ReadFile(store.RecordPath(id)));
  }
}

TEST(SchemaEvolution, RefusesANewerVersionAndSaysWhatToDo) {
  const Store store = Golden("version_2");
  ASSERT_THAT(WriteFileAtomically(store.folder() + "/version", "openset store 3\n"), IsOk());
  EXPECT_THAT(store.CheckVersion(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("use the newer openset")));
  MergeCounts counts;
  EXPECT_THAT(MergeFrom(store.folder(), Store(TestFolder() + "/none"), &counts),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace openset

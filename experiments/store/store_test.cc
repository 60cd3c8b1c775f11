#include "experiments/store/store.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/record_file.h"
#include "core/testing/failing_disk.h"
#include "core/testing/status_matchers.h"
#include "eval/metrics/metric.pb.h"

namespace openset {
namespace {

// Keys of results.
const char* const kAbcd = "abcd000000000000000000000000000000000000000000000000000000000000";
const char* const kEf00 = "ef00000000000000000000000000000000000000000000000000000000000000";
const char* const kEf01 = "ef01000000000000000000000000000000000000000000000000000000000000";

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
    record.mutable_trial();
    MetricRecord* metric = record.add_metric();
    metric->set_name("accuracy");
    metric->set_value(value);
    return record;
  }

  // Also for a dangling link.
  static bool IsEntry(const std::string& path) {
    return std::filesystem::symlink_status(path).type() != std::filesystem::file_type::not_found;
  }

  const Store store_;
};

TEST_F(StoreTest, ReadingCreatesNothing) {
  EXPECT_FALSE(*store_.HasRecord(kAbcd));
  EXPECT_EQ(store_.LoadRecord(kAbcd).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_.LoadFailure(kAbcd).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(FileExists(store_.folder()));
}

TEST_F(StoreTest, TheFirstRecordOfATrialStays) {
  EXPECT_TRUE(*store_.CommitRecord(Record(kAbcd, 1)));
  EXPECT_FALSE(*store_.CommitRecord(Record(kAbcd, 0.5)));
  EXPECT_TRUE(*store_.HasRecord(kAbcd));
  EXPECT_EQ(store_.LoadRecord(kAbcd)->metric(0).value(), 1);
  EXPECT_EQ(store_.RecordPath(kAbcd), absl::StrCat(store_.folder(), "/records/ab/", kAbcd, ".rec"));
}

TEST_F(StoreTest, CorruptAndNewerRecordsAreNamed) {
  ASSERT_TRUE(*store_.CommitRecord(Record(kAbcd, 1)));
  std::ofstream(store_.RecordPath(kAbcd), std::ios::app) << "x";
  const absl::Status damaged = store_.LoadRecord(kAbcd).status();
  EXPECT_THAT(damaged, IsDataLoss(store_.RecordPath(kAbcd)));
  EXPECT_EQ(OtherVersionOf(damaged), std::nullopt);

  for (const auto& [id, version] : {std::pair{kEf00, kSchemaVersion + 1}, {kEf01, kSchemaVersion - 1}}) {
    TrialRecord other = Record(id, 1);
    other.set_schema_version(version);
    ASSERT_TRUE(*store_.CommitRecord(other));
    const absl::Status refused = store_.LoadRecord(id).status();
    EXPECT_THAT(refused, IsDataLoss(absl::StrCat("schema version ", version)));
    EXPECT_EQ(OtherVersionOf(refused), version);
    // It does not block the trial's own record.
    EXPECT_TRUE(*store_.CommitRecord(Record(id, 1)));
    EXPECT_TRUE(store_.LoadRecord(id).ok());
  }
}

TEST_F(StoreTest, SummariesOfAnotherSchemaVersionAreRefused) {
  ASSERT_TRUE(MakeFolders(store_.CheckpointFolder("abcd")).ok());
  TrainSummary summary;  // version 1 had no such field
  ASSERT_TRUE(WriteFileAtomically(JoinPath(store_.CheckpointFolder("abcd"), kSummaryFile), EncodeRecord(summary)).ok());
  EXPECT_EQ(OtherVersionOf(store_.LoadTrainSummary("abcd").status()), 1);
}

TEST_F(StoreTest, ChecksItsVersion) {
  EXPECT_TRUE(store_.CheckVersion().ok());  // the folder does not exist
  ASSERT_TRUE(*store_.CommitRecord(Record(kAbcd, 1)));
  EXPECT_TRUE(store_.CheckVersion().ok());
  EXPECT_EQ(*ReadFile(store_.folder() + "/version"), "openset store 3\n");
  // Without the file it has version 1.
  std::filesystem::remove(store_.folder() + "/version");
  const absl::Status old = store_.CheckVersion();
  EXPECT_EQ(old.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(
      old.message(),
      absl::StrCat("the store ", store_.folder(),
                   " is of schema version 1, this openset reads and writes version 3: name another "
                   "folder (--store), where its results are made again; or, if only its file 'version' was lost, write "
                   "into it: openset store 3"));
  for (const auto& [content, problem] :
       {std::pair{"openset store 4\n", "newer openset"}, {"3\n", "is not the version file of a store: name another"}}) {
    std::ofstream(store_.folder() + "/version") << content;
    EXPECT_EQ(store_.CheckVersion().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(store_.CheckVersion().message()), HasSubstr(problem));
  }
}

// Whatever a folder contains, it is not a store without that file.
TEST_F(StoreTest, OnlyAVersionFileMakesAStore) {
  EXPECT_EQ(store_.CheckIsStore(),
            absl::NotFoundError(absl::StrCat("there is no store ", store_.folder(), " (--store)")));
  ASSERT_TRUE(MakeFolders(store_.folder() + "/tmp").ok());
  EXPECT_TRUE(store_.CheckVersion().ok());
  EXPECT_EQ(store_.CheckIsStore(),
            absl::FailedPreconditionError(absl::StrCat(store_.folder(),
                                                       " is not a store: it has no file 'version'; name another folder "
                                                       "(--store)")));
  EXPECT_TRUE(store_.CheckMayBeMade().ok());
  for (const char* name : {".snapshot", "outputs_of"}) {  // the second is what openset.collect() writes first
    ASSERT_TRUE(MakeFolders(JoinPath(store_.folder(), name)).ok());
    EXPECT_TRUE(store_.CheckMayBeMade().ok()) << name;
    std::filesystem::remove(JoinPath(store_.folder(), name));
  }
  ASSERT_TRUE(MakeFolders(store_.folder() + "/thesis").ok());
  EXPECT_EQ(store_.CheckMayBeMade(), absl::FailedPreconditionError(
                                         absl::StrCat(store_.folder(),
                                                      " is not a store, and has other files (thesis): name a new or an "
                                                      "empty folder (--store)")));
  EXPECT_TRUE(store_.CheckVersion().ok());
  std::filesystem::remove(store_.folder() + "/thesis");
  ASSERT_TRUE(store_.Make().ok());
  EXPECT_TRUE(store_.CheckIsStore().ok());
  EXPECT_TRUE(store_.CheckMayBeMade().ok());
  EXPECT_THAT(*ListFolder(store_.folder()), ElementsAre("tmp", "version"));
  EXPECT_THAT(*ListFolder(store_.folder() + "/tmp"), IsEmpty());
  std::filesystem::resize_file(store_.folder() + "/version", int64_t{1} << 40);
  EXPECT_EQ(store_.CheckIsStore().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(StoreTest, MustBeAFolder) {
  std::ofstream(store_.folder()) << "a file";
  EXPECT_EQ(store_.CheckVersion(), absl::FailedPreconditionError(absl::StrCat(
                                       store_.folder(), " is not a folder: name another store (--store)")));
}

TEST_F(StoreTest, AnyWriteMakesItAStoreOfThisVersion) {
  ASSERT_TRUE(store_.NewStagingFolder("abcd").ok());
  EXPECT_TRUE(FileExists(store_.folder() + "/version"));
}

TEST_F(StoreTest, FoldersAppearAtomicallyAndTheFirstStays) {
  for (const char* content : {"first", "second"}) {
    ASSERT_OK_AND_ASSIGN(const std::string staging, store_.NewStagingFolder("abcd"));
    std::ofstream(JoinPath(staging, kOutputsFile)) << content;
    EXPECT_FALSE(*store_.HasOutputs("abcd") && content == std::string("first"));
    ASSERT_TRUE(store_.CommitFolder(staging, store_.OutputsFolder("abcd")).ok());
    EXPECT_FALSE(FileExists(staging));
  }
  EXPECT_TRUE(*store_.HasOutputs("abcd"));
  EXPECT_EQ(*ReadFile(JoinPath(store_.OutputsFolder("abcd"), kOutputsFile)), "first");
}

TEST_F(StoreTest, FindsOnlyLogsThatAreNotEmpty) {
  EXPECT_EQ(store_.FindLog("ab12"), "");
  ASSERT_TRUE(MakeFolders(store_.LogFolder()).ok());
  ASSERT_TRUE(WriteFileAtomically(store_.LogPath("ab12"), "").ok());
  EXPECT_EQ(store_.FindLog("ab12"), "");
  ASSERT_TRUE(WriteFileAtomically(store_.LogPath("ab12"), "loss 2.3\n").ok());
  EXPECT_EQ(store_.FindLog("ab12"), store_.folder() + "/logs/ab12.log");
}

TEST_F(StoreTest, EveryFailureIsKept) {
  EXPECT_EQ(*store_.CountFailures(kAbcd), 0);
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_key(kAbcd);
  // 10 comes after 9, not after 1.
  for (int n = 1; n <= 10; ++n) {
    failure.set_message(absl::StrCat("attempt ", n));
    ASSERT_TRUE(store_.WriteFailure(failure).ok());
    EXPECT_EQ(*store_.CountFailures(kAbcd), n);
    EXPECT_EQ(store_.LoadFailure(kAbcd)->message(), absl::StrCat("attempt ", n));
  }
  FailureRecord first;
  ASSERT_TRUE(ReadRecordFile(store_.folder() + "/attempts/" + kAbcd + "/1.rec", &first).ok());
  EXPECT_EQ(first.message(), "attempt 1");
  EXPECT_EQ(*store_.CountFailures(kEf00), 0);
}

// Others may have put it there: it is neither read nor taken for a damaged record, which would be moved away.
TEST_F(StoreTest, ALinkIsNotFollowedAndStays) {
  const std::string path = store_.RecordPath(kAbcd), other = JoinPath(testing::TempDir(), "other.rec");
  ASSERT_TRUE(WriteFileAtomically(other, EncodeRecord(Record(kAbcd, 1))).ok());
  for (const std::string& target : {other, path, std::string("nothing")}) {
    ASSERT_TRUE(*store_.CommitRecord(Record(kAbcd, 1)));
    std::filesystem::remove(path);
    std::filesystem::create_symlink(target, path);
    const absl::Status status = store_.LoadRecord(kAbcd).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(status.message()), HasSubstr(path + ": is a link; openset follows no link below"));
    EXPECT_FALSE(store_.CommitRecord(Record(kAbcd, 0.5)).value_or(false));
    EXPECT_TRUE(std::filesystem::is_symlink(path));
    ASSERT_TRUE(store_.Remove(path).ok());  // removes the link
  }
  EXPECT_EQ(*ReadFile(other), EncodeRecord(Record(kAbcd, 1)));
  // A link in place of a folder.
  const std::string records = store_.folder() + "/records";
  std::filesystem::remove_all(records);
  std::filesystem::create_symlink(testing::TempDir(), records);
  EXPECT_EQ(store_.CheckVersion().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(store_.CheckVersion().message()), HasSubstr(records + ": is a link; "));
}

TEST_F(StoreTest, EveryDefectOfARecordIsDataLossWithItsPath) {
  const std::string path = store_.RecordPath(kAbcd);
  const std::vector<std::pair<const char*, std::function<void()>>> damages = {
      {"cut short", [&] { std::filesystem::resize_file(path, 0); }},
      {"a folder", [&] { std::filesystem::remove(path), std::filesystem::create_directory(path); }},
      {"another trial's", [&] { std::ofstream(path) << EncodeRecord(Record(kEf00, 1)); }},
  };
  int count = 0;
  for (const auto& [what, damage] : damages) {
    ASSERT_TRUE(*store_.CommitRecord(Record(kAbcd, 1))) << what;
    damage();
    EXPECT_TRUE(*store_.HasRecord(kAbcd)) << what;
    const absl::Status status = store_.LoadRecord(kAbcd).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << what << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path)) << what;
    // A new record replaces it, and the old one can be examined.
    EXPECT_TRUE(*store_.CommitRecord(Record(kAbcd, 0.5))) << what;
    EXPECT_EQ(store_.LoadRecord(kAbcd)->metric(0).value(), 0.5) << what;
    EXPECT_TRUE(IsEntry(absl::StrCat(store_.folder(), "/quarantine/", ++count, "/", kAbcd, ".rec"))) << what;
    EXPECT_EQ(store_.Quarantined()->size(), count);
    EXPECT_THAT(store_.Quarantined()->back(), HasSubstr(path));
    ASSERT_TRUE(store_.Remove(path).ok());
  }
}

// A record that can't be read now stays, and no other record takes its place.
TEST_F(StoreTest, AnErrorIsNeitherAbsenceNorCorruption) {
  const std::string path = store_.RecordPath(kAbcd), other = store_.RecordPath(kEf00);
  ASSERT_TRUE(*store_.CommitRecord(Record(kAbcd, 1)));
  FailureRecord failure;
  failure.set_key(kEf01);
  failure.set_schema_version(kSchemaVersion);
  ASSERT_TRUE(store_.WriteFailure(failure).ok());
  for (const char* error : {"EACCES", "EPERM", "EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EIO", "ESTALE", "EBUSY"}) {
    for (const char* calls : {"open", "read"}) {
      const FailingDisk failing(path, error, calls);
      EXPECT_TRUE(IsReadFailure(store_.LoadRecord(kAbcd).status())) << error << " " << calls;
      EXPECT_TRUE(IsReadFailure(store_.CommitRecord(Record(kAbcd, 0.5)).status())) << error << " " << calls;
    }
    for (const char* calls : {"open", "list"}) {
      const FailingDisk failing("/attempts/", error, calls);
      EXPECT_TRUE(IsReadFailure(store_.CountFailures(kEf01).status())) << error << " " << calls;
      EXPECT_TRUE(IsReadFailure(store_.LoadFailure(kEf01).status())) << error << " " << calls;
    }
    {
      const FailingDisk failing("/attempts", error, "open");
      EXPECT_TRUE(IsReadFailure(store_.KeysOfFailures().status())) << error;
    }
    const FailingDisk failing("/records/", error, "stat");
    EXPECT_TRUE(IsReadFailure(store_.HasRecord(kAbcd).status())) << error;
    EXPECT_TRUE(IsReadFailure(store_.HasRecord(kEf00).status())) << error;
  }
  EXPECT_FALSE(FileExists(store_.folder() + "/quarantine"));
  EXPECT_EQ(store_.LoadRecord(kAbcd)->metric(0).value(), 1);
  EXPECT_EQ(*store_.CountFailures(kEf01), 1);
  EXPECT_FALSE(*store_.HasRecord(kEf00));
}

TEST_F(StoreTest, InvalidRecordsAreNeitherReadNorWritten) {
  TrialRecord record = Record(kAbcd, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(
      store_.CommitRecord(record).status(),
      absl::InternalError(absl::StrCat("the record of trial ", kAbcd, ": metric[0].value: must be a number (is nan)")));
  EXPECT_FALSE(*store_.HasRecord(kAbcd));
  const std::string path = store_.RecordPath(kAbcd);
  ASSERT_TRUE(*store_.CommitRecordBytes(kAbcd, path, EncodeRecord(record)));
  const absl::Status nan = absl::DataLossError(path + ": metric[0].value: must be a number (is nan)");
  EXPECT_EQ(store_.LoadRecord(kAbcd).status(), nan);
  // Fields that are not read must still be present.
  TrialRecord read;
  EXPECT_TRUE(store_.LoadRecord(kAbcd, {TrialRecord::kMetricFieldNumber}, &read).ok());
  record.clear_metric();
  ASSERT_TRUE(store_.Remove(path).ok());
  ASSERT_TRUE(*store_.CommitRecordBytes(kAbcd, path, EncodeRecord(record)));
  const absl::Status empty = absl::DataLossError(path + ": metric: must not be empty");
  EXPECT_EQ(store_.LoadRecord(kAbcd).status(), empty);
  EXPECT_EQ(store_.LoadRecord(kAbcd, {TrialRecord::kMetricFieldNumber}, &read), empty);
}

TEST_F(StoreTest, FoldersAreComparedWithTheirChecksums) {
  EXPECT_EQ(store_.CheckOutputs(kAbcd).code(), absl::StatusCode::kNotFound);
  const std::string folder = store_.OutputsFolder(kAbcd);
  const auto make = [&] {
    const std::string staging = store_.NewStagingFolder(kAbcd).value();
    std::ofstream(JoinPath(staging, kOutputsFile)) << "outputs";
    InferSummary summary;
    summary.set_schema_version(kSchemaVersion);
    summary.mutable_action()->mutable_infer();
    summary.mutable_provenance()->set_stage(StageProvenance::INFER);
    summary.mutable_provenance()->set_key(kAbcd);
    // The output of: echo -n outputs | sha256sum
    summary.set_outputs_sha256("7b8c56be0a5f71be141f0cfaa9195e2ff8d1ef89e380560b579a82fd841429c1");
    ASSERT_TRUE(WriteFileAtomically(JoinPath(staging, kSummaryFile), EncodeRecord(summary)).ok());
    ASSERT_TRUE(store_.CommitFolder(staging, folder).ok());
  };
  make();
  EXPECT_TRUE(store_.CheckOutputs(kAbcd).ok()) << store_.CheckOutputs(kAbcd);
  for (const auto& [what, damage] : std::vector<std::pair<const char*, std::function<void()>>>{
           {"outputs.npz: does not match its checksum", [&] { std::ofstream(JoinPath(folder, kOutputsFile)) << "x"; }},
           {"outputs.npz: is not there", [&] { std::filesystem::remove(JoinPath(folder, kOutputsFile)); }},
           {"the record", [&] { std::ofstream(JoinPath(folder, kSummaryFile), std::ios::app) << "x"; }},
           {"has no summary.rec", [&] { std::filesystem::remove(JoinPath(folder, kSummaryFile)); }}}) {
    damage();
    const absl::Status status = store_.CheckOutputs(kAbcd);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << what;
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
    ASSERT_TRUE(store_.Quarantine(folder, status.message()).ok());
    EXPECT_FALSE(*store_.HasOutputs(kAbcd));
    make();
  }
  EXPECT_EQ(store_.Quarantined()->size(), 4);
}

// The checksum of 10 GB takes half a minute, but the header already shows that the file is of another kind.
TEST_F(StoreTest, LargeFilesAreRefusedByTheirHeader) {
  for (const bool outputs : {false, true}) {
    const std::string folder = outputs ? store_.OutputsFolder(kAbcd) : store_.CheckpointFolder(kAbcd);
    const std::string file = JoinPath(folder, outputs ? kOutputsFile : kCheckpointFile);
    ASSERT_TRUE(MakeFolders(folder).ok());
    std::ofstream(file) << "";
    std::filesystem::resize_file(file, 10'000'000'000);
    InferSummary infer;
    infer.mutable_action()->mutable_infer();
    infer.mutable_provenance()->set_stage(StageProvenance::INFER);
    infer.mutable_provenance()->set_key(kAbcd);
    infer.set_outputs_sha256(kAbcd);
    infer.set_schema_version(kSchemaVersion);
    TrainSummary train;
    train.mutable_action()->mutable_train();
    train.mutable_provenance()->set_stage(StageProvenance::TRAIN);
    train.mutable_provenance()->set_key(kAbcd);
    train.set_checkpoint_sha256(kAbcd);
    train.set_schema_version(kSchemaVersion);
    const std::string summary = outputs ? EncodeRecord(infer) : EncodeRecord(train);
    ASSERT_TRUE(WriteFileAtomically(JoinPath(folder, kSummaryFile), summary).ok());
    const absl::Status status = outputs ? store_.CheckOutputs(kAbcd) : store_.CheckCheckpoint(kAbcd);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat(file, outputs ? ": not a zip archive" : ": the header is not a JSON object")));
  }
}

// Other users may have made any files in a store.
TEST_F(StoreTest, CountsOnlyItsOwnNumbers) {
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_key(kAbcd);
  failure.set_message("first");
  ASSERT_TRUE(store_.WriteFailure(failure).ok());
  const std::string attempts = store_.folder() + "/attempts/" + kAbcd, quarantine = store_.folder() + "/quarantine";
  for (const char* name : {"2147483647.rec", "99999999999.rec", "-1.rec", "+7.rec", "08.rec", "0.rec", " 9.rec"}) {
    ASSERT_TRUE(WriteFileAtomically(JoinPath(attempts, name), "x").ok());
  }
  for (const char* name : {"2147483647", "2000000000", "-3", "+4", "05"}) {
    ASSERT_TRUE(MakeFolders(JoinPath(quarantine, name)).ok());
  }
  EXPECT_EQ(*store_.CountFailures(kAbcd), 1);
  EXPECT_EQ(store_.LoadFailure(kAbcd)->message(), "first");
  failure.set_message("second");
  ASSERT_TRUE(store_.WriteFailure(failure).ok());
  EXPECT_TRUE(FileExists(attempts + "/2.rec"));
  EXPECT_EQ(store_.LoadFailure(kAbcd)->message(), "second");
  ASSERT_TRUE(*store_.CommitRecord(Record(kAbcd, 1)));
  EXPECT_EQ(*store_.Quarantine(store_.RecordPath(kAbcd), "why"), quarantine + "/1");
  EXPECT_THAT(*store_.Quarantined(), ElementsAre(quarantine + "/1: why"));
}

}  // namespace
}  // namespace openset

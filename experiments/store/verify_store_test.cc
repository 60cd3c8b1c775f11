#include "experiments/store/verify_store.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/proto/record_file.h"
#include "core/testing/failing_disk.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/store_contents.h"
#include "experiments/store/testing/records.h"

namespace openset {
namespace {

class VerifyStoreTest : public ::testing::Test {
 protected:
  VerifyStoreTest() : store_(TestFolder() + "/store") {
    std::filesystem::remove_all(TestFolder());
    record_ = TestRecord(TestKey("abcd"), "m", 0, 0.5);
    record_.set_outputs_sha256(Sha256Hex("outputs"));
    CommitTestCheckpoint(store_, record_.checkpoint_key());
    CommitTestOutputs(store_, record_.outputs_key());
    EXPECT_TRUE(store_.CommitRecord(record_).ok());
    FailureRecord failure;
    failure.set_key(TestKey("12"));
    EXPECT_TRUE(store_.WriteFailure(failure).ok());
  }

  std::vector<std::string> Damaged() {
    std::vector<std::string> lines;
    const StoreReport report = VerifyStore(store_).value();
    for (const StoreProblem& problem : report.damaged) lines.push_back(problem.what);
    return lines;
  }

  const Store store_;
  TrialRecord record_;
};

TEST_F(VerifyStoreTest, ChecksEverything) {
  ASSERT_OK_AND_ASSIGN(const StoreReport report, VerifyStore(store_));
  EXPECT_EQ(report.records, 1);
  EXPECT_EQ(report.checkpoints, 1);
  EXPECT_EQ(report.outputs, 1);
  EXPECT_EQ(report.attempts, 1);
  EXPECT_THAT(Damaged(), IsEmpty());
  EXPECT_THAT(report.strangers, IsEmpty());
  EXPECT_THAT(report.incomplete, IsEmpty());
  EXPECT_THAT(VerifyStore(Store("/nowhere")), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(VerifyStoreTest, NoFileCanChangeUnnoticed) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(store_.folder())) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file() && entry.path().filename() != "version") files.push_back(path);
  }
  EXPECT_EQ(files.size(), 1 + 3 + 3 + 1);
  for (const std::string& file : files) {
    const std::string bytes = *ReadFile(file);
    std::string changed = bytes;
    changed[changed.size() / 2] ^= 1;
    std::ofstream(file, std::ios::binary) << changed;
    EXPECT_THAT(Damaged(), ElementsAre(HasSubstr(file))) << file;
    std::filesystem::resize_file(file, bytes.size() / 2);
    EXPECT_EQ(Damaged().size(), 1) << file;
    std::ofstream(file, std::ios::binary) << bytes;
    EXPECT_THAT(Damaged(), IsEmpty());
  }
}

TEST_F(VerifyStoreTest, DoesNotHashLargeFilesWithAWrongHeader) {
  std::filesystem::resize_file(store_.CheckpointFolder(record_.checkpoint_key()) + "/checkpoint.safetensors",
                               10'000'000'000);
  std::filesystem::resize_file(store_.OutputsFolder(record_.outputs_key()) + "/outputs.npz", 10'000'000'000);
  EXPECT_THAT(Damaged(), ElementsAre(HasSubstr("checkpoint.safetensors: the header claims"),
                                     HasSubstr("outputs.npz: not a zip archive")));
}

// What can't be read now is named apart: it may be intact.
TEST_F(VerifyStoreTest, WhatCantBeReadIsNotCorrupt) {
  const std::string shard = store_.folder() + "/records/ab";
  for (const char* error : {"EACCES", "EMFILE", "ENFILE", "ENOMEM", "EIO", "ESTALE", "EAGAIN"}) {
    for (const auto& [path, calls] : std::vector<std::pair<std::string, std::string>>{
             {store_.folder() + "/records", "open"},
             {shard, "list"},
             {store_.RecordPath(record_.trial_id()), "open"},
             {store_.RecordPath(record_.trial_id()), "read"},
             {store_.CheckpointFolder(record_.checkpoint_key()) + "/summary.rec", "open"},
             {store_.CheckpointFolder(record_.checkpoint_key()) + "/checkpoint.safetensors", "open"},
             {store_.OutputsFolder(record_.outputs_key()) + "/outputs.npz", "read"},
             {store_.OutputsFolder(record_.outputs_key()) + "/action.textproto", "open"},
             {store_.folder() + "/attempts/" + TestKey("12"), "open"}}) {
      const FailingDisk failing(path, error, calls);
      ASSERT_OK_AND_ASSIGN(const StoreReport report, VerifyStore(store_));
      EXPECT_THAT(report.damaged, IsEmpty()) << error << " " << calls << " " << path;
      EXPECT_THAT(report.unreadable, ElementsAre(HasSubstr(path))) << error << " " << calls;
    }
  }
  EXPECT_THAT(Damaged(), IsEmpty());
}

// Two valid results that changed places.
TEST_F(VerifyStoreTest, ResultsOfAnotherActionAreCorrupt) {
  CommitTestCheckpoint(store_, TestKey("c1"), 7);
  CommitTestOutputs(store_, TestKey("f1"), "others");
  const auto swap = [this](const std::string& a, const std::string& b) {
    const std::string aside = store_.folder() + "/aside";
    std::filesystem::rename(a, aside);
    std::filesystem::rename(b, a);
    std::filesystem::rename(aside, b);
  };
  const std::string checkpoint = store_.CheckpointFolder(record_.checkpoint_key()),
                    outputs = store_.OutputsFolder(record_.outputs_key());
  swap(checkpoint, store_.CheckpointFolder(TestKey("c1")));
  EXPECT_THAT(Damaged(), UnorderedElementsAre(HasSubstr(checkpoint + ": its action has the key"),
                                              HasSubstr(store_.CheckpointFolder(TestKey("c1")))));
  EXPECT_THAT(store_.LoadTrainSummary(record_.checkpoint_key()), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(store_.CheckCheckpoint(record_.checkpoint_key()), StatusIs(absl::StatusCode::kDataLoss));
  swap(checkpoint, store_.CheckpointFolder(TestKey("c1")));
  EXPECT_THAT(Damaged(), IsEmpty());
  swap(outputs, store_.OutputsFolder(TestKey("f1")));
  EXPECT_THAT(Damaged(), UnorderedElementsAre(HasSubstr(outputs), HasSubstr(store_.OutputsFolder(TestKey("f1")))));
  EXPECT_THAT(store_.CheckOutputs(record_.outputs_key()), StatusIs(absl::StatusCode::kDataLoss));
}

// Another process removes and makes results again: none of them is corrupt, and none is moved.
TEST_F(VerifyStoreTest, ResultsThatAreBeingMadeAgainAreNotCorrupt) {
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    while (!is_over) {
      EXPECT_TRUE(store_.Remove(store_.RecordPath(record_.trial_id())).ok());
      EXPECT_TRUE(store_.Remove(store_.OutputsFolder(record_.outputs_key())).ok());
      EXPECT_TRUE(store_.Remove(store_.CheckpointFolder(record_.checkpoint_key())).ok());
      CommitTestCheckpoint(store_, record_.checkpoint_key());
      CommitTestOutputs(store_, record_.outputs_key());
      EXPECT_TRUE(store_.CommitRecord(record_).ok());
    }
  });
  for (int n = 0; n < 100; ++n) EXPECT_THAT(Damaged(), IsEmpty());
  is_over = true;
  other.join();
  const std::string gone = store_.OutputsFolder(TestKey("99"));
  EXPECT_THAT(store_.Quarantine(gone, "corrupt"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(*ListFolder(store_.folder() + "/quarantine"), IsEmpty());
}

TEST_F(VerifyStoreTest, ReportsStrangeNamesAndOtherOutputs) {
  std::ofstream(store_.folder() + "/records/ab/note.txt") << "x";
  ASSERT_TRUE(store_.Remove(store_.OutputsFolder(record_.outputs_key())).ok());
  CommitTestOutputs(store_, record_.outputs_key(), "others");
  const absl::StatusOr<StoreReport> report = VerifyStore(store_);
  EXPECT_THAT(report->strangers, ElementsAre(store_.folder() + "/records/ab/note.txt"));
  EXPECT_THAT(report->incomplete, ElementsAre(HasSubstr("was made from other outputs")));
}

// A link is neither followed nor moved: what lies behind it belongs to somebody else.
TEST_F(VerifyStoreTest, EntriesInPlaceOfFoldersCanBeQuarantinedAndLinksAreNamed) {
  const std::string shard = store_.folder() + "/records/ab", kind = store_.folder() + "/outputs";
  std::filesystem::remove_all(shard);
  std::filesystem::create_symlink("ab", shard);  // its own target
  std::filesystem::remove_all(kind);
  std::ofstream(kind) << "x";
  const StoreReport report = VerifyStore(store_).value();
  EXPECT_THAT(report.unreadable, ElementsAre(HasSubstr(shard + ": is a link")));
  ASSERT_THAT(report.damaged, SizeIs(1));
  EXPECT_THAT(report.damaged[0].what, HasSubstr(kind + ": is not the folder"));
  EXPECT_FALSE(store_.CommitRecord(record_).ok());
  EXPECT_THAT(store_.Quarantine(kind, report.damaged[0].what), IsOk());
  EXPECT_THAT(Damaged(), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_symlink(shard));
  std::filesystem::remove(shard);
  EXPECT_TRUE(*store_.CommitRecord(record_));
}

// Records of another schema version or of another trial do not stop the check; both can be quarantined.
TEST_F(VerifyStoreTest, OtherVersionsAndOtherTrialsAreCorrupt) {
  TrialRecord newer = TestRecord(TestKey("abce"), "m", 0, 0.5);
  newer.set_schema_version(kSchemaVersion + 1);
  ASSERT_TRUE(*store_.CommitRecord(newer));
  TrialRecord other = TestRecord(TestKey("abcf"), "m", 0, 0.5);
  other.mutable_provenance()->mutable_stage(0)->set_key(TestKey("1234"));
  ASSERT_TRUE(*store_.CommitRecord(other));
  const TrialRecord empty;
  const std::string id = TestKey("abd0");
  ASSERT_TRUE(*store_.CommitRecordBytes(id, store_.RecordPath(id), EncodeRecord(empty)));
  const StoreReport report = VerifyStore(store_).value();
  EXPECT_EQ(report.records, 4);
  EXPECT_EQ(report.checkpoints, 1);
  EXPECT_THAT(Damaged(), ElementsAre(HasSubstr("is of schema version 4"), HasSubstr("provenance: has no evaluation"),
                                     HasSubstr("is of schema version 1")));
  for (const StoreProblem& problem : report.damaged) EXPECT_THAT(store_.Quarantine(problem.path, problem.what), IsOk());
  EXPECT_THAT(Damaged(), IsEmpty());
}

TEST_F(VerifyStoreTest, TrialsAreFoundByTheirFirstDigits) {
  ASSERT_TRUE(store_.CommitRecord(TestRecord(TestKey("abce"), "m", 0, 0.5)).ok());
  EXPECT_EQ(*FindTrial(store_, "abcd"), TestKey("abcd"));
  EXPECT_THAT(FindTrial(store_, "abc"), IsInvalidArgument("first 4"));
  EXPECT_THAT(FindTrial(store_, "../x"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(FindTrial(store_, "0123"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace openset

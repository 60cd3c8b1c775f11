#include "experiments/store/upgrade.h"

#include <filesystem>
#include <fstream>

#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/proto/proto_digest.h"
#include "core/proto/record_file.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/store/store_contents.h"
#include "experiments/store/testing/records.h"
#include "experiments/store/verify_store.h"
#include "experiments/store/version_2.pb.h"

namespace openset {
namespace {

using ::testing::Field;

std::string Released(const std::string& name) {
  return RunfilesFolder().value() + "/openset/experiments/store/testdata/" + name;
}

class UpgradeTest : public ::testing::Test {
 protected:
  UpgradeTest() : from_(TestFolder() + "/from"), to_(TestFolder() + "/to") {
    std::filesystem::remove_all(TestFolder());
  }

  // A store follows no links, and runfiles are links.
  static Store Copy(const std::string& released, const std::string& folder) {
    std::filesystem::create_directories(TestFolder());
    std::filesystem::copy(Released(released), folder, std::filesystem::copy_options::recursive);
    return Store(folder);
  }

  void CopyReleased() { Copy("version_2", from_.folder()); }
  static Store Expected() { return Copy("version_3", TestFolder() + "/expected"); }

  UpgradeCounts Upgrade() {
    const absl::StatusOr<UpgradeCounts> counts = UpgradeStore(from_, to_);
    EXPECT_THAT(counts, IsOk());
    return counts.value_or(UpgradeCounts());
  }

  const Store from_, to_;
};

TEST_F(UpgradeTest, NamesWhatLiesInThePlaceOfAFolder) {
  CopyReleased();
  const std::string file = from_.folder() + "/outputs";
  std::filesystem::remove_all(file);
  std::ofstream(file) << "no folder";
  EXPECT_THAT(Upgrade().left_out, Contains(HasSubstr(file)));
}

// The store was written by a released openset, which named its records by its keys; they must be found to be right.
TEST_F(UpgradeTest, RecordsOfARelease) {
  CopyReleased();
  EXPECT_THAT(from_.CheckIsStore(), IsFailedPrecondition("'openset records upgrade " + from_.folder() + " NEW'"));
  const UpgradeCounts counts = Upgrade();
  EXPECT_EQ(counts.merged.trials, 2);
  EXPECT_THAT(counts.left_out, IsEmpty());
  const std::vector<std::string> ids = AllRecordIds(to_);
  ASSERT_EQ(ids.size(), 2);
  for (const std::string& id : ids) {
    ASSERT_OK_AND_ASSIGN(const TrialRecord record, to_.LoadRecord(id));
    EXPECT_EQ(TrialId(record.trial()), id);
    EXPECT_FALSE(*from_.HasRecord(id));
    // Everything else is as it was.
    UnreadRecords unread;
    int same = 0;
    for (const std::string& old : RecordIds(from_, &unread)) {
      TrialRecord before;
      ASSERT_THAT(ReadRecordFile(from_.RecordPath(old), &before), IsOk());
      before.set_former_trial_id(old);
      before.set_trial_id(id);
      before.set_schema_version(kSchemaVersion);
      before.mutable_provenance()->mutable_stage(before.provenance().stage_size() - 1)->set_key(id);
      same += before.metric().size() == record.metric().size() &&
              before.SerializeAsString().size() == record.SerializeAsString().size();
    }
    EXPECT_GE(same, 1);
  }
  // They are examples, without the accuracy that their trial lists.
  EXPECT_THAT(VerifyStore(to_)->damaged, Each(Field(&StoreProblem::what, HasSubstr("metric: lacks accuracy"))));
  EXPECT_EQ(Upgrade().merged.trials, 0);
  EXPECT_EQ(AllRecordIds(to_), ids);
  // As `version_3` has them, which other tests read.
  const Store expected = Expected();
  EXPECT_EQ(ids, AllRecordIds(expected));
  for (const std::string& id : ids) {
    EXPECT_EQ(*ReadFile(to_.RecordPath(id)), *ReadFile(expected.RecordPath(id)));
  }
}

TEST_F(UpgradeTest, ABundle) {
  std::filesystem::create_directories(TestFolder());
  const std::string bundle = TestFolder() + "/new.zip";
  MergeCounts merged;
  EXPECT_THAT(MergeFrom(Released("bundle_1.zip"), to_, &merged), IsFailedPrecondition("openset records upgrade "));
  BundleWritten written;
  ASSERT_OK_AND_ASSIGN(const UpgradeCounts counts, UpgradeBundle(Released("bundle_1.zip"), bundle, &written));
  EXPECT_THAT(counts.left_out, IsEmpty());
  EXPECT_EQ(written.manifest.records(), 2);
  ASSERT_THAT(MergeFrom(bundle, to_, &merged), IsOk());
  EXPECT_EQ(AllRecordIds(to_), AllRecordIds(Expected()));
}

std::string OldKey(const std::string& type, const google::protobuf::Message& action) {
  return Sha256Hex(std::string(1, static_cast<char>(type.size())) + std::string(7, '\0') + type +
                   CanonicalBytes(action));
}

// A summary as version 2 wrote it: with the action of version 2 instead of this version's.
template <typename Summary, typename Old>
std::string OldSummary(Summary summary, const Old& old) {
  summary.clear_action();
  summary.set_schema_version(kUpgradedVersion);
  Summary both;
  EXPECT_TRUE(both.ParseFromString(summary.SerializeAsString() + old.SerializeAsString()));
  return EncodeRecord(both);
}

// A network that was fine-tuned from another one, and its outputs.
class UpgradedTrainingTest : public UpgradeTest {
 protected:
  UpgradedTrainingTest() {
    Write(from_.folder() + "/version", "openset store 2\n");
    first_ = Parsed<TrainActionV2>("seed: 1 execution { threads: 3 }");
    second_ = Parsed<TrainActionV2>("seed: 2 execution { threads: 3 } start { seed: 1 execution { threads: 3 } }");
    *outputs_.add_train() = second_;
    outputs_.mutable_inference()->mutable_plain();
    WriteCheckpoint(first_, "first");
    WriteCheckpoint(second_, "second");
    InferSummary summary;
    for (const char* commit : {"first", "second"}) {
      TrainSummary* training = summary.add_training();
      training->mutable_provenance()->set_stage(StageProvenance::TRAIN);
      training->mutable_provenance()->set_commit(commit);
      training->set_checkpoint_sha256(Sha256Hex(commit));
    }
    WriteOutputs(summary);
  }

  static void Write(const std::string& path, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_THAT(WriteFileAtomically(path, content), IsOk());
  }

  void WriteCheckpoint(const TrainActionV2& action, const std::string& weights) const {
    TrainSummary summary;
    summary.set_checkpoint_sha256(Sha256Hex(weights));
    summary.mutable_provenance()->set_stage(StageProvenance::TRAIN);
    summary.mutable_provenance()->set_commit(weights);
    TrainSummaryV2 old;
    *old.mutable_action() = action;
    const std::string folder = from_.CheckpointFolder(OldKey("openset.TrainAction", action));
    Write(folder + "/" + kCheckpointFile, weights);
    Write(folder + "/" + kSummaryFile, OldSummary(summary, old));
  }

  void WriteOutputs(InferSummary summary) const {
    summary.set_outputs_sha256(Sha256Hex("outputs"));
    summary.mutable_provenance()->set_stage(StageProvenance::INFER);
    InferSummaryV2 old;
    *old.mutable_action() = outputs_;
    const std::string folder = from_.OutputsFolder(OldKey("openset.InferAction", outputs_));
    Write(folder + "/" + kOutputsFile, "outputs");
    Write(folder + "/" + kSummaryFile, OldSummary(summary, old));
  }

  TrainActionV2 first_, second_;
  InferActionV2 outputs_;
};

TEST_F(UpgradedTrainingTest, NamesItsInputsByTheirNewKeys) {
  const UpgradeCounts counts = Upgrade();
  EXPECT_EQ(counts.checkpoints, 2);
  EXPECT_EQ(counts.outputs, 1);
  EXPECT_THAT(counts.left_out, IsEmpty());
  const std::string first = MessageDigest(Parsed<ActionSpec>("train { seed: 1 execution { threads: 3 } }"));
  const std::string second = MessageDigest(
      Parsed<ActionSpec>("input { role: START key: '" + first + "' } train { seed: 2 execution { threads: 3 } }"));
  const std::string outputs = MessageDigest(Parsed<ActionSpec>(
      "input { role: MODEL key: '" + second + "' } infer { inference { plain {} } execution { threads: 3 } }"));
  for (const std::string& key : {first, second}) {
    ASSERT_OK_AND_ASSIGN(const TrainSummary summary, to_.LoadTrainSummary(key));
    EXPECT_EQ(MessageDigest(summary.action()), key);
    EXPECT_EQ(summary.provenance().key(), key);
    EXPECT_THAT(to_.CheckCheckpoint(key), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(const InferSummary summary, to_.LoadInferSummary(outputs));
  ASSERT_EQ(summary.training_size(), 2);
  EXPECT_EQ(MessageDigest(summary.training(0).action()), first);
  EXPECT_EQ(summary.training(1).provenance().commit(), "second");
  // They are examples, without the accuracy that their trial lists.
  EXPECT_THAT(VerifyStore(to_)->damaged, Each(Field(&StoreProblem::what, HasSubstr("metric: lacks accuracy"))));
  // The large files are not there twice.
  EXPECT_EQ(std::filesystem::hard_link_count(to_.OutputsFolder(outputs) + "/" + kOutputsFile), 2);
}

// As the first releases wrote them; the checkpoints have the trainings.
TEST_F(UpgradedTrainingTest, OutputsWithoutTheirTrainingsGetThem) {
  WriteOutputs(InferSummary());
  EXPECT_EQ(Upgrade().outputs, 1);
  UnreadRecords unread;
  EXPECT_EQ(to_.LoadInferSummary(OutputsKeys(to_, &unread).at(0))->training_size(), 2);
}

TEST_F(UpgradedTrainingTest, LeavesOutWhatIsCorruptAndKeepsTheRest) {
  const std::string folder = from_.CheckpointFolder(OldKey("openset.TrainAction", first_));
  Write(folder + "/" + kCheckpointFile, "other weights");
  std::filesystem::create_directories(from_.OutputsFolder(TestKey("ab")));
  std::filesystem::rename(from_.OutputsFolder(OldKey("openset.InferAction", outputs_)),
                          from_.OutputsFolder(TestKey("ab")));
  const UpgradeCounts counts = Upgrade();
  EXPECT_EQ(counts.checkpoints, 1);
  EXPECT_EQ(counts.outputs, 0);
  EXPECT_THAT(counts.left_out, ElementsAre(folder + ": does not match its checksum",
                                           HasSubstr("was made by another revision of one of its components")));
}

TEST_F(UpgradeTest, OnlyOfVersion2) {
  EXPECT_THAT(UpgradeStore(Expected(), to_), IsFailedPrecondition("only version 2 can be upgraded"));
  EXPECT_THAT(UpgradeStore(from_, to_), IsNotFound("there is no store " + from_.folder()));
  EXPECT_FALSE(FileExists(to_.folder()));
}

// A record must have the id of its trial.
TEST_F(UpgradeTest, RefusesTheIdOfAnotherTrial) {
  CopyReleased();
  UnreadRecords unread;
  const std::string id = RecordIds(from_, &unread).at(0);
  TrialRecord record;
  ASSERT_THAT(ReadRecordFile(from_.RecordPath(id), &record), IsOk());
  record.GetReflection()->MutableUnknownFields(&record)->Clear();
  record.mutable_trial()->set_seed(99);
  ASSERT_THAT(WriteFileAtomically(from_.RecordPath(id), EncodeRecord(record)), IsOk());
  const UpgradeCounts counts = Upgrade();
  EXPECT_EQ(counts.merged.trials, 1);
  EXPECT_THAT(counts.left_out, ElementsAre(HasSubstr("trial_id: is " + id + ", but the trial gives ")));
}

}  // namespace
}  // namespace openset

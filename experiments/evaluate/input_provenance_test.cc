#include "experiments/evaluate/input_provenance.h"

#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/proto/proto_digest.h"
#include "core/proto/record_file.h"
#include "experiments/spec/action.proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

TrainAction Training(uint64_t seed) {
  TrainAction action;
  action.set_seed(seed);
  return action;
}

class InputProvenanceTest : public ::testing::Test {
 protected:
  InputProvenanceTest() : store_(::testing::TempDir() + "store") { std::filesystem::remove_all(store_.folder()); }

  // Writes the checkpoint of a training, which is identified by its commit.
  void Trained(const TrainAction& action, const std::string& commit, const std::vector<std::string>& ignored = {}) {
    TrainSummary summary;
    summary.set_schema_version(kSchemaVersion);
    *summary.mutable_action() = action;
    summary.mutable_provenance()->set_stage(StageProvenance::TRAIN);
    summary.mutable_provenance()->set_commit(commit);
    for (const std::string& tensor : ignored) summary.add_ignored_tensor(tensor);
    if (!ignored.empty()) summary.add_import_note("a prefix");
    const std::string folder = store_.CheckpointFolder(MessageDigest(action));
    ASSERT_TRUE(MakeFolders(folder).ok());
    ASSERT_TRUE(WriteFileAtomically(JoinPath(folder, kSummaryFile), EncodeRecord(summary)).ok());
  }

  static InferSummary Inferred(const std::vector<TrainAction>& trainings, const std::string& commit) {
    InferSummary summary;
    for (const TrainAction& action : trainings) *summary.mutable_action()->add_train() = action;
    summary.mutable_provenance()->set_stage(StageProvenance::INFER);
    summary.mutable_provenance()->set_commit(commit);
    return summary;
  }

  // "TRAIN a" ...
  std::vector<std::string> Lines(const InferSummary& test, const InferSummary* fit) {
    TrialRecord record;
    EXPECT_TRUE(AddInputs(test, fit, store_, &record).ok());
    std::vector<std::string> lines;
    for (const StageProvenance& stage : record.provenance().stage()) {
      lines.push_back(StageProvenance::Stage_Name(stage.stage()) + " " + stage.commit());
    }
    return lines;
  }

  const Store store_;
};

TEST_F(InputProvenanceTest, HasEachMemberOfAnEnsembleThenInferenceAndFit) {
  Trained(Training(0), "a");
  Trained(Training(1), "b");
  const InferSummary test = Inferred({Training(0), Training(1)}, "c"), fit = Inferred({Training(0), Training(1)}, "d");
  EXPECT_THAT(Lines(test, &fit), ElementsAre("TRAIN a", "TRAIN b", "INFER c", "FIT d"));
  EXPECT_THAT(Lines(test, nullptr), ElementsAre("TRAIN a", "TRAIN b", "INFER c"));
}

TEST_F(InputProvenanceTest, ATrainingComesAfterTheOneItStartsFrom) {
  TrainAction second = Training(7);
  *second.mutable_start() = Training(3);
  Trained(Training(3), "first");
  Trained(second, "second");
  EXPECT_THAT(Lines(Inferred({second}, "infer"), nullptr), ElementsAre("TRAIN first", "TRAIN second", "INFER infer"));
}

TEST_F(InputProvenanceTest, TellsTheTensorsThatImportsLeftOutEachOnce) {
  Trained(Training(0), "a", {"bn.bias", "bn.weight"});
  Trained(Training(1), "b", {"bn.bias", "extra"});
  TrialRecord record;
  ASSERT_TRUE(AddInputs(Inferred({Training(0), Training(1)}, "c"), nullptr, store_, &record).ok());
  EXPECT_THAT(record.ignored_tensor(), ElementsAre("bn.bias", "bn.weight", "extra"));
  EXPECT_THAT(record.import_note(), ElementsAre("a prefix"));
}

// Outputs of earlier versions lack the summaries of their trainings.
TEST_F(InputProvenanceTest, ATrainingWithoutItsCheckpointIsAnErrorForOutputsOfEarlierVersions) {
  TrialRecord record;
  EXPECT_EQ(AddInputs(Inferred({Training(0)}, "a"), nullptr, store_, &record).code(), absl::StatusCode::kNotFound);
}

TEST_F(InputProvenanceTest, OutputsWithTheirTrainingsNeedNoCheckpoint) {
  InferSummary test = Inferred({Training(0), Training(1)}, "c");
  for (const char* commit : {"a", "b"}) {
    TrainSummary* training = test.add_training();
    training->mutable_provenance()->set_stage(StageProvenance::TRAIN);
    training->mutable_provenance()->set_commit(commit);
    training->set_checkpoint_sha256(commit);
    training->add_epoch()->set_loss(0.5);
  }
  EXPECT_THAT(Lines(test, nullptr), ElementsAre("TRAIN a", "TRAIN b", "INFER c"));
  TrialRecord record;
  ASSERT_TRUE(AddInputs(test, nullptr, store_, &record).ok());
  EXPECT_EQ(record.checkpoint_key(), MessageDigest(Training(0)));
  EXPECT_EQ(record.checkpoint_sha256(), "a");
  EXPECT_EQ(record.epoch_size(), 1);
}

}  // namespace
}  // namespace openset

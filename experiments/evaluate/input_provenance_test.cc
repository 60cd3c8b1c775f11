#include "experiments/evaluate/input_provenance.h"

#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/proto/proto_digest.h"
#include "core/proto/record_file.h"
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

  // What a training leaves; its commit tells it from others.
  void Trained(const TrainAction& action, const std::string& commit) {
    TrainSummary summary;
    summary.set_schema_version(kSchemaVersion);
    summary.mutable_provenance()->set_stage(StageProvenance::TRAIN);
    summary.mutable_provenance()->set_commit(commit);
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
  static std::vector<std::string> Lines(const Provenance& provenance) {
    std::vector<std::string> lines;
    for (const StageProvenance& stage : provenance.stage()) {
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
  EXPECT_THAT(Lines(*InputProvenance(test, &fit, store_)), ElementsAre("TRAIN a", "TRAIN b", "INFER c", "FIT d"));
  EXPECT_THAT(Lines(*InputProvenance(test, nullptr, store_)), ElementsAre("TRAIN a", "TRAIN b", "INFER c"));
}

TEST_F(InputProvenanceTest, ATrainingComesAfterTheOneItStartsFrom) {
  TrainAction second = Training(7);
  *second.mutable_start() = Training(3);
  Trained(Training(3), "first");
  Trained(second, "second");
  EXPECT_THAT(Lines(*InputProvenance(Inferred({second}, "infer"), nullptr, store_)),
              ElementsAre("TRAIN first", "TRAIN second", "INFER infer"));
}

TEST_F(InputProvenanceTest, ATrainingWithoutItsCheckpointIsAnError) {
  EXPECT_EQ(InputProvenance(Inferred({Training(0)}, "a"), nullptr, store_).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace openset

#include "experiments/store/records/input_trainings.h"

#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/proto/proto_digest.h"
#include "core/proto/record_file.h"
#include "core/testing/status_matchers.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TrainAction Training(uint64_t seed) {
  TrainAction action;
  action.set_seed(seed);
  return action;
}

class InputTrainingsTest : public ::testing::Test {
 protected:
  InputTrainingsTest() : store_(::testing::TempDir() + "store") {
    std::filesystem::remove_all(store_.folder());
    TrainAction fine_tuned = Training(2);
    *fine_tuned.mutable_start() = Training(1);
    *action_.add_train() = fine_tuned;
    *action_.add_train() = Training(3);
    Keep(Training(1), "1");
    Keep(fine_tuned, "2");
    Keep(Training(3), "3");
  }

  // A checkpoint of two epochs, identified by its commit.
  void Keep(const TrainAction& action, const std::string& commit) {
    TrainSummary summary;
    summary.set_schema_version(kSchemaVersion);
    *summary.mutable_action() = action;
    summary.mutable_provenance()->set_stage(StageProvenance::TRAIN);
    summary.mutable_provenance()->set_commit(commit);
    summary.add_epoch();
    summary.add_epoch();
    const std::string folder = store_.CheckpointFolder(MessageDigest(action));
    ASSERT_THAT(MakeFolders(folder), IsOk());
    ASSERT_THAT(WriteFileAtomically(JoinPath(folder, kSummaryFile), EncodeRecord(summary)), IsOk());
  }

  // "1: 0" for a training of commit 1 without epochs.
  static std::vector<std::string> Lines(const std::vector<TrainSummary>& trainings) {
    std::vector<std::string> lines;
    for (const TrainSummary& training : trainings) {
      EXPECT_FALSE(training.has_action());
      lines.push_back(training.provenance().commit() + ": " + std::to_string(training.epoch_size()));
    }
    return lines;
  }

  const Store store_;
  InferAction action_;
};

TEST_F(InputTrainingsTest, EachModelsAfterTheOneThatItStartsFromWithEpochsOfTheFirstModelOnly) {
  EXPECT_EQ(CountTrainingsOfFirstModel(action_), 2);
  const absl::StatusOr<std::vector<TrainSummary>> trainings = LoadTrainings(action_, store_);
  ASSERT_THAT(trainings, IsOk());
  EXPECT_THAT(Lines(*trainings), ElementsAre("1: 0", "2: 2", "3: 0"));
}

TEST_F(InputTrainingsTest, ASummaryThatHasThemNeedsNoCheckpoint) {
  InferSummary summary;
  *summary.mutable_action() = action_;
  EXPECT_THAT(Lines(*TrainingsOf(summary, store_)), ElementsAre("1: 0", "2: 2", "3: 0"));
  const std::vector<TrainSummary> trainings = *LoadTrainings(action_, store_);
  *summary.mutable_training() = {trainings.begin(), trainings.end()};
  std::filesystem::remove_all(store_.folder());
  EXPECT_THAT(Lines(*TrainingsOf(summary, store_)), ElementsAre("1: 0", "2: 2", "3: 0"));
  EXPECT_EQ(LoadTrainings(action_, store_).status().code(), absl::StatusCode::kNotFound);
  summary.mutable_training()->RemoveLast();
  EXPECT_THAT(TrainingsOf(summary, store_).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("the summaries of 2 trainings, and their action has 3")));
}

}  // namespace
}  // namespace openset

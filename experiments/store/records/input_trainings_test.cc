#include "experiments/store/records/input_trainings.h"

#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/proto/proto_digest.h"
#include "core/proto/record_file.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

ActionSpec Training(uint64_t seed, const std::string& start = "") {
  ActionSpec action;
  action.mutable_train()->set_seed(seed);
  if (start.empty()) return action;
  ActionInput* input = action.add_input();
  input->set_role(ActionInput::START);
  input->set_key(start);
  return action;
}

class InputTrainingsTest : public ::testing::Test {
 protected:
  InputTrainingsTest() : store_(::testing::TempDir() + "store") {
    std::filesystem::remove_all(store_.folder());
    const std::string first = Keep(Training(1), "1");
    for (const std::string& key : {Keep(Training(2, first), "2"), Keep(Training(3), "3")}) {
      ActionInput* model = summary_.mutable_action()->add_input();
      model->set_role(ActionInput::MODEL);
      model->set_key(key);
    }
    summary_.mutable_action()->mutable_infer();
  }

  // A checkpoint of two epochs, identified by its commit. Returns its key.
  std::string Keep(const ActionSpec& action, const std::string& commit) {
    TrainSummary summary;
    summary.set_schema_version(kSchemaVersion);
    *summary.mutable_action() = action;
    summary.mutable_provenance()->set_stage(StageProvenance::TRAIN);
    summary.mutable_provenance()->set_commit(commit);
    summary.add_epoch();
    summary.add_epoch();
    const std::string key = MessageDigest(action), folder = store_.CheckpointFolder(key);
    EXPECT_THAT(MakeFolders(folder), IsOk());
    EXPECT_THAT(WriteFileAtomically(JoinPath(folder, kSummaryFile), EncodeRecord(summary)), IsOk());
    return key;
  }

  const Store store_;
  InferSummary summary_;  // of an ensemble whose first network was fine-tuned
};

TEST_F(InputTrainingsTest, EachNetworksAfterTheOneThatItStartsFromWithEpochsOfTheFirstNetworkOnly) {
  ASSERT_OK_AND_ASSIGN(const auto trainings, LoadTrainings(summary_.action(), store_));
  std::vector<std::string> lines;  // "1: 0" for a training of commit 1 without epochs
  for (const TrainSummary& training : trainings) {
    lines.push_back(training.provenance().commit() + ": " + std::to_string(training.epoch_size()));
  }
  EXPECT_THAT(lines, ElementsAre("1: 0", "2: 2", "3: 0"));
  std::filesystem::remove_all(store_.folder());
  EXPECT_EQ(LoadTrainings(summary_.action(), store_).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(InputTrainingsTest, ASummaryMustHaveTheTrainingsOfItsAction) {
  EXPECT_THAT(CheckTrainings(summary_), IsDataLoss("of 0 trainings"));
  *summary_.mutable_training() = *LoadTrainings(summary_.action(), store_);
  EXPECT_THAT(CheckTrainings(summary_), IsOk());
  EXPECT_EQ(FirstTraining(summary_).provenance().commit(), "2");
  InferSummary other = summary_;
  other.mutable_training(2)->mutable_action()->mutable_train()->set_seed(4);
  EXPECT_THAT(CheckTrainings(other), IsDataLoss("depend on 3 others"));
  other = summary_;
  other.mutable_training()->RemoveLast();
  EXPECT_THAT(CheckTrainings(other), IsDataLoss("the summaries of 2 trainings, and depend on 3"));
  // The one that a network starts from is missing.
  other = summary_;
  other.mutable_training()->DeleteSubrange(0, 1);
  EXPECT_THAT(CheckTrainings(other), IsDataLoss("depend on 3"));
}

}  // namespace
}  // namespace openset

#include "experiments/train/checkpoint.h"

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/proto/proto_digest.h"
#include "core/proto/proto_rules.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "experiments/train/testing/training_scene.h"
#include "models/checkpoint.h"
#include "models/model.pb.h"

namespace openset {
namespace {

TEST(CommitCheckpoint, LeavesNothingBehindOnAnError) {
  const TrainingScene scene;
  const TrainAction action = scene.Action();
  const ActionContext context = scene.Context(std::string(64, '0'));
  const std::unique_ptr<TrainingRun> run = MakeRun(action, context);
  TrainSummary summary;
  *summary.mutable_action() = SpecOf(action, context);
  EXPECT_THAT(CommitCheckpoint(*run->model(), summary, context, "/nowhere/state"),
              StatusIs(absl::StatusCode::kUnavailable, testing::HasSubstr("cannot copy /nowhere/state")));
  EXPECT_FALSE(*context.store.HasCheckpoint(context.key));
  const std::string staging = context.store.NewStagingFolder(context.key).value();
  const std::string above = staging.substr(0, staging.rfind('/'));
  EXPECT_EQ(ListFolder(above)->size(), 1) << "another staging folder than this one is left in " << above;
}

TrainAction ActionOf(const std::string& model, int classes = 3) {
  TrainAction action = Parsed<TrainAction>("model { " + model + " } input { size: 16 channels: 1 } seed: 1");
  for (int c = 0; c < classes; ++c) action.mutable_data()->add_class_id(c);
  FillDefaults(&action);
  return action;
}

constexpr char kNetwork[] = "osrci_cnn { feature_dim: 4 } head { linear {} } ";
constexpr char kWeights[] = "weights { file: 'models/testdata/osrci_cnn_parallel.safetensors' ";

ActionContext ContextOf(const std::string& key) {
  static auto* const images = new ImageCache(Catalog(std::vector<DataSetInfo>{}), {"absent", "models"});
  return {key, {}, Store(::testing::TempDir() + "store"), at::kCPU, images, [](const WorkProgress&) {}};
}

// The head's part of the state.
at::Tensor HeadOf(const TrainAction& action) {
  const auto model = MakeInitialModel(action, ContextOf("0"));
  EXPECT_THAT(model, IsOk());
  return StateOf(**model).at("head.weight");
}

TEST(InitialModelTest, IsDrawnFromTheSeedAndThenImported) {
  TrainAction drawn = ActionOf(kNetwork), kept = ActionOf(absl::StrCat(kNetwork, kWeights, "}")),
              skipped = ActionOf(absl::StrCat(kNetwork, kWeights, "head: SKIP }"));
  ASSERT_OK_AND_ASSIGN(const auto file, LoadTensors("models/testdata/osrci_cnn_parallel.safetensors"));
  EXPECT_THAT(HeadOf(kept), TensorEq(file.at("module.head.weight")));
  EXPECT_THAT(HeadOf(drawn), Not(TensorEq(file.at("module.head.weight"))));
  EXPECT_THAT(HeadOf(skipped), TensorEq(HeadOf(drawn)));
  for (TrainAction* action : {&drawn, &kept, &skipped}) action->set_seed(2);
  EXPECT_THAT(HeadOf(kept), TensorEq(file.at("module.head.weight")));
  EXPECT_THAT(HeadOf(skipped), TensorEq(HeadOf(drawn)));
}

TEST(InitialModelTest, WeightsMayLieInADataFolder) {
  const std::string file = "osrci_cnn_parallel.safetensors";
  EXPECT_THAT(HeadOf(ActionOf(absl::StrCat(kNetwork, "weights { file: 'data:testdata/", file, "' }"))),
              TensorEq(HeadOf(ActionOf(absl::StrCat(kNetwork, kWeights, "}")))));
  EXPECT_THAT(MakeInitialModel(ActionOf(absl::StrCat(kNetwork, "weights { file: 'data:", file, "' }")), ContextOf("0")),
              IsNotFound("in the data folders (absent, models): osrci_cnn"));
}

TEST(InitialModelTest, TheDigestDecidesNotThePath) {
  TrainAction a = ActionOf(absl::StrCat(kNetwork, kWeights, "sha256: '1' }")), b = a;
  b.mutable_model()->mutable_weights()->set_file("elsewhere");
  EXPECT_EQ(MessageDigest(a), MessageDigest(b));
  b.mutable_model()->mutable_weights()->set_sha256("2");
  EXPECT_NE(MessageDigest(a), MessageDigest(b));
}

TEST(InitialModelTest, IsTheCheckpointWithoutATraining) {
  const TrainAction action = ActionOf(absl::StrCat(kNetwork, kWeights, "}"));
  const ActionContext context = ContextOf(Sha256Hex("weights"));
  ASSERT_THAT(CommitInitialModel(action, context), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto summary, context.store.LoadTrainSummary(Sha256Hex("weights")));
  EXPECT_EQ(summary.epoch_size(), 0);
  EXPECT_EQ(MessageDigest(summary.action().train()), MessageDigest(action));
  ASSERT_OK_AND_ASSIGN(const auto state,
                       LoadTensors(JoinPath(context.store.CheckpointFolder(Sha256Hex("weights")), kCheckpointFile)));
  EXPECT_THAT(state.at("head.weight"), TensorEq(HeadOf(action)));
}

TEST(InitialModelTest, TheSummaryNamesTheTensorsThatWereLeftOut) {
  const ActionContext context = ContextOf(Sha256Hex("left out"));
  ASSERT_THAT(CommitInitialModel(ActionOf(absl::StrCat(kNetwork, kWeights, "head: SKIP ignore: 'head.*' }")), context),
              IsOk());
  ASSERT_OK_AND_ASSIGN(const auto summary, context.store.LoadTrainSummary(Sha256Hex("left out")));
  EXPECT_THAT(summary.ignored_tensor(), ElementsAre("head.bias", "head.weight"));
}

TEST(InitialModelTest, TheSummaryHasTheNotesOfTheImport) {
  const ActionContext context = ContextOf(Sha256Hex("notes"));
  ASSERT_THAT(CommitInitialModel(
                  ActionOf(absl::StrCat(kNetwork, "weights { file: 'models/testdata/osrci_cnn_ema.pth' }")), context),
              IsOk());
  ASSERT_OK_AND_ASSIGN(const auto summary, context.store.LoadTrainSummary(Sha256Hex("notes")));
  EXPECT_THAT(summary.import_note(), ElementsAre(HasSubstr("there are others under 'state_dict_ema'")));
}

TEST(InitialModelTest, ErrorsNameTheFile) {
  EXPECT_THAT(MakeInitialModel(ActionOf(absl::StrCat(kNetwork, kWeights, "}"), 5), ContextOf("0")),
              IsInvalidArgument("models/testdata/osrci_cnn_parallel.safetensors: the weights don't fit the model"));
}

}  // namespace
}  // namespace openset

#include "experiments/train/commit_checkpoint.h"

#include <memory>
#include <string>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "experiments/train/testing/training_scene.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

TEST(CommitCheckpoint, LeavesNothingBehindOnAnError) {
  const TrainingScene scene;
  const TrainAction action = scene.Action();
  const ActionContext context = scene.Context(std::string(64, '0'));
  const std::unique_ptr<TrainingRun> run = MakeRun(action, context);
  TrainSummary summary;
  *summary.mutable_action() = action;
  EXPECT_THAT(CommitCheckpoint(*run->model(), summary, context, "/nowhere/state"),
              StatusIs(absl::StatusCode::kUnavailable, testing::HasSubstr("cannot copy /nowhere/state")));
  EXPECT_FALSE(*context.store.HasCheckpoint(context.key));
  const std::string staging = context.store.NewStagingFolder(context.key).value();
  const std::string above = staging.substr(0, staging.rfind('/'));
  EXPECT_EQ(ListFolder(above)->size(), 1) << "another staging folder than this one is left in " << above;
}

}  // namespace
}  // namespace openset

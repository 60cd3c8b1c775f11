#include "core/tensor/torch.h"
// core/tensor/torch.h comes first, because core/logging.h replaces its macros.
#include <filesystem>
#include <vector>

#include "core/testing/status_matchers.h"
#include "data/task.pb.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/train/probe.h"
#include "experiments/train/testing/training_scene.h"
#include "models/model.pb.h"

namespace openset {
namespace {

// The reports of a probe with one timed step.
std::vector<WorkProgress> ReportsOf(const TrainAction& action, ActionContext context) {
  std::vector<WorkProgress> reports;
  context.report = [&reports](const WorkProgress& progress) { reports.push_back(progress); };
  ProbeAction probe;
  *probe.mutable_train() = action;
  probe.set_seconds(0);
  EXPECT_THAT(Probe(probe, context), IsOk());
  return reports;
}

TEST(Probe, ReportsOneRateAndWritesNothing) {
  const TrainingScene scene;
  const ActionContext context = scene.Context();
  const std::vector<WorkProgress> reports = ReportsOf(scene.Action(), context);
  ASSERT_EQ(reports.size(), 1);
  EXPECT_GT(reports[0].images_per_second(), 0);
  EXPECT_FALSE(std::filesystem::exists(context.store.folder()));
}

// The data set's files or entry are missing, and the training has few epochs and steps.
TEST(Probe, NeedsNoData) {
  const TrainingScene scene;
  TrainAction action = scene.Action();
  action.mutable_data()->set_data_set("nowhere");
  action.mutable_training()->set_max_steps(1);
  action.mutable_training()->set_epochs(1);
  action.mutable_model()->mutable_weights()->set_file("nowhere.safetensors");
  EXPECT_EQ(ReportsOf(action, scene.Context()).size(), 1);
}

TEST(Probe, OfSeveralPassesAndExternalImages) {
  const TrainingScene scene;
  TrainAction action = scene.Action(R"(
      model { osrci_cnn { feature_dim: 8 } head { linear {} } }
      open_set { external_images {} plain_passes: 1 }
      loss { term { cross_entropy {} } term { lambda: 0.5 outlier_exposure {} } }
      training { epochs: 1 batch_size: 5 optimizer { learning_rate: 0.01 sgd {} } schedule { constant {} } })");
  action.mutable_external()->set_data_set("nowhere");
  EXPECT_EQ(ReportsOf(action, scene.Context()).size(), 1);
}

// An epoch has two batches of this size, so that the probe sees the end of one, where a loss that is no number is an
// error.
TEST(Probe, OfFeatures) {
  const TrainingScene scene;
  TrainAction action = scene.Action(R"(
      model { features { dim: 64 } head { linear {} } }
      loss { term { cross_entropy {} } }
      training { epochs: 1 batch_size: 65536 optimizer { learning_rate: 0.01 sgd {} } schedule { constant {} } })");
  EXPECT_EQ(ReportsOf(action, scene.Context()).size(), 1);
}

TEST(Probe, WithoutATrainingThereIsNothingToTime) {
  const TrainingScene scene;
  ProbeAction probe;
  *probe.mutable_train() = scene.Action();
  probe.mutable_train()->clear_training();
  EXPECT_THAT(Probe(probe, scene.Context()), IsFailedPrecondition("no training"));
}

}  // namespace
}  // namespace openset

#include "experiments/train/testing/training_scene.h"

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/proto_digest.h"
#include "core/proto/proto_rules.h"
#include "core/random.h"
#include "core/testing/byte_order.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "data/catalog.h"
#include "data/sets/data_set.h"
#include "data/task.h"
#include "experiments/learning_curve/measure_epoch.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/train/training.h"

namespace openset {
namespace {

constexpr int kSize = 16;
constexpr int kClasses = 5;
constexpr int kTrainingPerClass = 6;  // the last 2 for validation
constexpr int kTestPerClass = 3;

constexpr char kDataSet[] = R"(
name: "noise"
class_name: ["a", "b", "c", "d", "e"]
channels: 1
height: 16
width: 16
layout {
  part {
    name: "train"
    samples: 30
    samples_per_class: 6
    idx { images { path: "noise/train-images" } labels { path: "noise/train-labels" } }
  }
  part {
    name: "test"
    samples: 15
    samples_per_class: 3
    idx { images { path: "noise/test-images" } labels { path: "noise/test-labels" } }
  }
}
)";

void WriteNew(const std::string& path, const std::string& content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

// One image of each class after the other.
void WritePart(const std::string& folder, const std::string& part, int per_class) {
  const int count = kClasses * per_class;
  RandomStream random(1, part);
  std::string images = BigEndian(0x803) + BigEndian(count) + BigEndian(kSize) + BigEndian(kSize);
  std::string labels = BigEndian(0x801) + BigEndian(count);
  for (int i = 0; i < count; ++i) {
    labels += static_cast<char>(i % kClasses);
    for (int p = 0; p < kSize * kSize; ++p) images += static_cast<char>(random.Below(256));
  }
  WriteNew(absl::StrCat(folder, "/noise/", part, "-images"), images);
  WriteNew(absl::StrCat(folder, "/noise/", part, "-labels"), labels);
}

}  // namespace

TrainingScene::TrainingScene() {
  const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
  folder_ = JoinPath(testing::TempDir(), std::string(info->test_suite_name()) + "." + info->name());
  std::filesystem::remove_all(folder_);
  WritePart(folder_, "train", kTrainingPerClass);
  WritePart(folder_, "test", kTestPerClass);
  Catalog catalog({ParsedWithDefaults<DataSetInfo>(kDataSet)});
  EXPECT_TRUE(AddContentDigests("noise", {"train", "test"}, {folder_}, &catalog).ok());
  const auto task =
      ParsedWithDefaults<TaskSpec>("name: 'task' data_set: 'noise' split { known: [0, 1, 2] unknown: [3, 4] }");
  TaskRequest request;
  request.validation_per_class = 2;
  const absl::StatusOr<TaskData> data = ResolveTask(task, request, catalog);
  EXPECT_THAT(data, IsOk());
  data_ = *data;
  images_ = std::make_shared<ImageCache>(catalog, std::vector<std::string>{folder_});
}

TrialSpec TrainingScene::Trial(const std::string& method) const {
  TrialSpec trial;
  *trial.mutable_method() = ParsedWithDefaults<MethodSpec>(
      absl::StrCat("input { size: 16 channels: 1 } inference { plain {} } score { max_softmax {} }", method));
  *trial.mutable_data() = data_;
  trial.set_seed(0);
  trial.mutable_execution();
  trial.add_metric()->mutable_accuracy();
  trial.add_metric()->mutable_auroc();
  FillDefaults(&trial);
  return trial;
}

TrainAction TrainingScene::Action(const std::string& method) const { return MakeTraining(Trial(method)).train(); }

ActionContext TrainingScene::Context(const std::string& key) const {
  return {key, {}, Store(JoinPath(folder_, "store")), at::kCPU, images_.get(), [](const WorkProgress&) {}};
}

at::Tensor TrainingScene::TrainingImages() const {
  TrainAction action = Action("training { batch_size: 12 }");
  const absl::StatusOr<std::unique_ptr<TrainingData>> data = TrainingData::Make(action, Context());
  EXPECT_THAT(data, IsOk());
  (*data)->StartEpoch(0);
  const absl::StatusOr<Batch> batch = (*data)->Next();
  EXPECT_THAT(batch, IsOk());
  return batch->image.index_select(0, batch->sample.argsort());
}

at::Tensor TrainingScene::TrainingLabels() const { return at::arange(12).remainder(3); }

std::string KeyOf(const TrainAction& action) {
  ActionSpec spec;
  *spec.mutable_train() = action;
  return MessageDigest(spec);
}

TrainSummary Trained(const TrainAction& action, const TrainingScene& scene) {
  const ActionContext context = scene.Context(KeyOf(action));
  EXPECT_THAT(Train(action, context, MeasureEpoch), IsOk());
  const absl::StatusOr<TrainSummary> summary = context.store.LoadTrainSummary(context.key);
  EXPECT_THAT(summary, IsOk());
  return *summary;
}

TrialSpec WithCurve(TrialSpec trial, EvaluateEverySpec::Samples samples) {
  EvaluateEverySpec* spec = trial.mutable_method()->mutable_training()->mutable_evaluate_every();
  spec->set_epochs(2);
  spec->set_samples(samples);
  return trial;
}

TensorMap StateCopy(const TrainingRun& run) {
  TensorMap copy;
  for (const auto& [name, tensor] : run.State()) copy[name] = tensor.detach().clone();
  return copy;
}

void ExpectSameState(const TensorMap& actual, const TensorMap& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, tensor] : expected) EXPECT_THAT(actual.at(name), TensorEq(tensor)) << name;
}

std::unique_ptr<TrainingRun> MakeRun(const TrainAction& action, const ActionContext& context) {
  absl::StatusOr<std::unique_ptr<TrainingRun>> run = TrainingRun::Make(action, context);
  EXPECT_THAT(run, IsOk());
  return *std::move(run);
}

}  // namespace openset

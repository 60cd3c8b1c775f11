// A tiny data set and trials on it, for tests of trainings.
#ifndef OPENSET_EXPERIMENTS_TRAIN_TESTING_TRAINING_SCENE_H_
#define OPENSET_EXPERIMENTS_TRAIN_TESTING_TRAINING_SCENE_H_

#include <memory>
#include <string>

#include "core/tensor/torch.h"
#include "data/task.pb.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.pb.h"
#include "experiments/train/training_run.h"
#include "experiments/worker/action_context.h"
#include "models/checkpoint.h"

namespace openset {

// "noise": 16x16 grey images, each pixel drawn from 0 to 255, of 5 classes. Classes 0 to 2 are known, with 4 training,
// 2 validation and 3 test images each; classes 3 and 4 are the unknown test images.
class TrainingScene {
 public:
  // A training with dropout, augmentation, an open set, and a term with a history of each sample; 3 epochs of 3 steps,
  // the last of which has 2 images.
  static constexpr char kEverything[] = R"(
      model { osrci_cnn { feature_dim: 8 dropout: 0.5 } head { linear {} } }
      augmentation { random_crop { padding: 2 } }
      augmentation { horizontal_flip {} }
      open_set { feature_mixup {} }
      loss { term { cross_entropy {} } term { lambda: 0.1 open_auc {} } term { crl_ranking {} } }
      training {
        epochs: 3 batch_size: 5
        optimizer { learning_rate: 0.01 sgd { momentum: 0.9 } }
        schedule { constant {} }
      })";

  // Below the test's temporary folder, named after the test.
  TrainingScene();

  // `method` is a MethodSpec without input, inference and score; these are 16x16 grey images, a plain pass, and the
  // largest probability. The seed is 0.
  TrialSpec Trial(const std::string& method = kEverything) const;
  TrainAction Action(const std::string& method = kEverything) const;

  // The context of the action with this key.
  ActionContext Context(const std::string& key = "0") const;

  at::Tensor TrainingImages() const;  // f32 [12, 1, 16, 16], as a model sees them without augmentation
  at::Tensor TrainingLabels() const;  // i64 [12]

 private:
  std::string folder_;
  std::shared_ptr<ImageCache> images_;
  TaskData data_;
};

// The key of a training without inputs.
std::string KeyOf(const TrainAction& action);

// Returns the checkpoint's summary, after Train(). It is stored under KeyOf().
TrainSummary Trained(const TrainAction& action, const TrainingScene& scene);

// The trial with a learning curve of two metrics, measured after every second epoch and the last, on the test samples
// or on the validation samples.
TrialSpec WithCurve(TrialSpec trial, EvaluateEverySpec::Samples samples);

// Both arguments must outlive the run.
std::unique_ptr<TrainingRun> MakeRun(const TrainAction& action, const ActionContext& context);
// All tensors of a run, copied.
TensorMap StateCopy(const TrainingRun& run);
void ExpectSameState(const TensorMap& actual, const TensorMap& expected);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_TESTING_TRAINING_SCENE_H_

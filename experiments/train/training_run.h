// A training that the caller steps. This is the body of the only optimisation loop; experiments/train/training.h runs
// it to the end.
#ifndef OPENSET_EXPERIMENTS_TRAIN_TRAINING_RUN_H_
#define OPENSET_EXPERIMENTS_TRAIN_TRAINING_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/tensor/batch.h"
#include "core/tensor/torch.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/train/objective.h"
#include "experiments/train/optimizer.h"
#include "experiments/train/training_data.h"
#include "experiments/train/training_state.h"
#include "experiments/worker/action_context.h"
#include "models/checkpoint.h"
#include "models/import_weights.h"
#include "models/model.h"

namespace openset {

// The life of a run:
//   1. Make() makes it before its first epoch.
//   2. Resume() restores a saved state.
//   3. Step() or FinishEpoch(), until done().
//   4. State() and epochs() may be read between steps, model() between epochs. Using the model there (in evaluation
//      mode, with other generators) doesn't change the training as long as its tensors are unchanged.
// All random numbers come from streams and generators that the run owns and that are named by its seed and the epoch.
// So runs that are stepped alternately give the same bits as runs one after the other, and a resumed run gives those of
// one that was not stopped.
class TrainingRun {
 public:
  // Errors: those of the data and of MakeInitialModel(). Preconditions: action.training is set; `action` and `context`
  // outlive the run.
  static absl::StatusOr<std::unique_ptr<TrainingRun>> Make(const TrainAction& action, const ActionContext& context);
  ~TrainingRun();

  // Whether all epochs (up to stop_after_epochs) or max_steps steps are done.
  bool done() const;
  bool between_epochs() const { return epoch_ == nullptr; }

  // Makes one step: forward, backward, optimiser. The last step of an epoch ends the epoch.
  // Errors: those of the data; kAborted if the epoch that it ends has a loss that is not finite.
  // Precondition: !done().
  absl::Status Step();
  // Steps to the end of the current epoch or, between epochs, of the next one. Errors and precondition: as Step().
  absl::Status FinishEpoch();

  // All tensors that change during training; they are not copies. In an epoch, also "epoch. ...", its state between
  // steps: sums for its means, the number of its steps, and the states of its random streams and its open-set source.
  NamedTensors State() const;
  // Continues from an earlier State(), saved after these complete epochs and possibly some steps of the next one. Does
  // not read the images of those steps again. Errors: kInvalidArgument for an impossible state; then nothing has
  // changed. Precondition: no step was made.
  absl::Status Resume(std::vector<EpochSummary> epochs, const TensorMap& state);

  // The complete epochs.
  const std::vector<EpochSummary>& epochs() const { return epochs_; }
  // The last complete epoch, to which measurements after it are added.
  EpochSummary* mutable_last_epoch() { return &epochs_.back(); }
  const std::shared_ptr<Model>& model() const { return model_; }
  // About the imported weights (MakeInitialModel()).
  const ImportNotes& import_notes() const { return import_notes_; }

  // The number of steps so far, of max_steps(), including those before a resumption.
  int64_t steps() const { return steps_; }
  int64_t max_steps() const;
  // The number of training images in these steps.
  int64_t images_seen() const;
  // The mean objective over the samples of the current epoch so far or, between epochs, of the last one. Waits for the
  // device.
  double MeanLoss() const;

 private:
  struct Epoch;

  TrainingRun(const TrainAction& action, const ActionContext& context, std::unique_ptr<TrainingData> data,
              std::shared_ptr<Model> model, ImportNotes import_notes, std::shared_ptr<OpenSetSource> source);

  int Passes() const { return 1 + action_.open_set().plain_passes(); }
  int64_t StepsPerEpoch() const { return Passes() * data_->batches_per_pass(); }
  // The number of training images in the first steps of the training or of an epoch.
  int64_t ImagesOf(int64_t steps) const;
  // The learning rate of a step of the epoch.
  double RateOf(int64_t step) const;
  void SetRate();
  // All except its data.
  void StartEpoch();
  // Restores `state`, except the tensors that State() shares. Errors: kInvalidArgument.
  absl::Status ResumeEpoch(const TensorMap& state);
  // Returns the objective, each term, and the fraction of hits.
  at::Tensor TakeStep(const Batch& batch);
  absl::Status EndEpoch();

  const TrainAction& action_;
  const at::Device device_;
  const std::unique_ptr<TrainingData> data_;
  const std::shared_ptr<Model> model_;
  const ImportNotes import_notes_;
  at::Generator generator_;  // of dropout
  Objective objective_;
  std::unique_ptr<Optimizer> optimizer_;
  const at::Tensor rate_;  // the learning rate, a scalar on the device
  double rate_value_ = -1;

  std::vector<EpochSummary> epochs_;
  int64_t steps_ = 0;
  std::unique_ptr<Epoch> epoch_;  // the current one
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_TRAINING_RUN_H_

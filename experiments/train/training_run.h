// A training, stepped from outside. The only optimisation loop's body there is; experiments/train/training.h drives it
// to the end.
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
#include "models/model.h"

namespace openset {

// The life of a run:
//   1. Make() makes it before its first epoch.
//   2. Resume() takes back a state that was saved.
//   3. Step() or FinishEpoch(), until done().
//   4. Between steps State() and epochs() may be read, between epochs model() too; what is done with the model there
//      (evaluation mode, other generators) changes nothing of the training, as long as its tensors stay as they are.
// All random numbers come from streams and generators that the run owns, named by its seed and the epoch: runs that are
// stepped in turn give the same bits as one after the other, and a resumed run those of one that was not stopped.
class TrainingRun {
 public:
  // Errors: those of the data and of MakeInitialModel(). Precondition: action.training is set; `action` and `context`
  // outlive the run.
  static absl::StatusOr<std::unique_ptr<TrainingRun>> Make(const TrainAction& action, const ActionContext& context);
  ~TrainingRun();

  // Whether all epochs (of stop_after_epochs), or max_steps steps, are taken.
  bool done() const;
  bool between_epochs() const { return epoch_ == nullptr; }

  // One step: forward, backward, optimiser; the last one of an epoch ends it.
  // Errors: those of the data; kAborted if the epoch that it ends has a loss that is not finite.
  // Precondition: !done().
  absl::Status Step();
  // Steps to the end of the epoch that is under way, or else of the next one. Errors and precondition: as Step().
  absl::Status FinishEpoch();

  // All tensors that change during training; live. In an epoch also "epoch. ...", what it holds between its steps:
  // sums for its means, how many steps are taken, and where its random streams and its open-set source are.
  NamedTensors State() const;
  // Goes on from what State() was after these complete epochs and, if it was in an epoch, so many steps of the next.
  // Images that those steps have seen are not read again. Errors: kInvalidArgument for what can't have been the state;
  // nothing is changed then. Precondition: no step was taken.
  absl::Status Resume(std::vector<EpochSummary> epochs, const TensorMap& state);

  // Those that are complete.
  const std::vector<EpochSummary>& epochs() const { return epochs_; }
  // Of the last complete epoch, for what is measured after it.
  EpochSummary* mutable_last_epoch() { return &epochs_.back(); }
  const std::shared_ptr<Model>& model() const { return model_; }
  // Tensors of the imported weights it starts from that were left out (MakeInitialModel()).
  const std::vector<std::string>& ignored_tensors() const { return ignored_tensors_; }

  // Those taken so far, of max_steps(); resumed ones count.
  int64_t steps() const { return steps_; }
  int64_t max_steps() const;
  // Training images of these steps.
  int64_t images_seen() const;
  // Of the objective, over the samples of the epoch under way so far, or else of the last one. Waits for the device.
  double MeanLoss() const;

 private:
  struct Epoch;

  TrainingRun(const TrainAction& action, const ActionContext& context, std::unique_ptr<TrainingData> data,
              std::shared_ptr<Model> model, std::vector<std::string> ignored_tensors,
              std::unique_ptr<OpenSetSource> source);

  int Passes() const { return 1 + action_.open_set().plain_passes(); }
  int64_t StepsPerEpoch() const { return Passes() * data_->batches_per_pass(); }
  // Training images of the first steps of the training or of an epoch.
  int64_t ImagesOf(int64_t steps) const;
  // The learning rate of a step of the epoch.
  double RateOf(int64_t step) const;
  void SetRate();
  // All but its data.
  void StartEpoch();
  // `state`, of all but tensors that are live. Errors: kInvalidArgument.
  absl::Status ResumeEpoch(const TensorMap& state);
  // Returns the objective, each term and the share of hits.
  absl::StatusOr<at::Tensor> TakeStep(const Batch& batch);
  absl::Status EndEpoch();

  const TrainAction& action_;
  const at::Device device_;
  const std::unique_ptr<TrainingData> data_;
  const std::shared_ptr<Model> model_;
  const std::vector<std::string> ignored_tensors_;
  at::Generator generator_;  // of dropout
  Objective objective_;
  std::unique_ptr<Optimizer> optimizer_;
  const at::Tensor rate_;  // the learning rate, a scalar on the device
  double rate_value_ = -1;

  std::vector<EpochSummary> epochs_;
  int64_t steps_ = 0;
  std::unique_ptr<Epoch> epoch_;  // under way
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_TRAINING_RUN_H_

// A training that is stepped from outside, the batches that it reads, and its state on disk.
#ifndef OPENSET_EXPERIMENTS_TRAIN_TRAINING_RUN_H_
#define OPENSET_EXPERIMENTS_TRAIN_TRAINING_RUN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/random.h"
#include "core/tensor/batch.h"
#include "core/tensor/open_set.h"
#include "core/tensor/torch.h"
#include "data/batch_stream.h"
#include "data/batcher.h"
#include "data/pipeline.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/open_set.pb.h"
#include "experiments/store/record.proto.h"
#include "experiments/train/objective.h"
#include "experiments/train/optimizer.h"
#include "experiments/worker/action_context.h"
#include "models/checkpoint.h"
#include "models/import_weights.h"
#include "models/model.h"

namespace openset {

// The batches of a training, pass by pass. The only code of the trainer that uses the batcher.

// Its life: Make(), then UseOpenSet() for a training with one; then for each epoch StartEpoch(), which begins the first
// pass over the training samples, and StartPass() for each further pass; Next() until the pass has no batches left.
// ResumeEpoch() continues an epoch from its state between two batches.
class TrainingData {
 public:
  // Errors: an error of the data (data/sets/data_set.h); kInvalidArgument also for augmentations or values that the
  // images don't fit (Pipeline::Make() in data/pipeline.h).
  static absl::StatusOr<std::unique_ptr<TrainingData>> Make(const TrainAction& action, const ActionContext& context);

  int64_t samples() const { return batcher_.size(); }
  int64_t batches_per_pass() const {
    return std::min(BatchesPerEpoch(batcher_.size(), batch_size_, drop_last_), most_batches_);
  }
  // Makes the open set's part of the batches of each epoch's first pass, and limits passes to MostSteps().
  // Precondition: between epochs; not null.
  void UseOpenSet(std::shared_ptr<OpenSetSource> source);

  // Orders, augmentations and open sets use streams that are named by the training's seed and the epoch's number, and
  // by nothing else: a pretraining and the training that follows it have the same seed, so that epoch e of both draws
  // the same.
  void StartEpoch(size_t epoch);
  // In a new order.
  void StartPass();
  // A pass of its own without the open set, with the streams of this epoch.
  void StartPlainEpoch(size_t epoch);
  // Call it instead of StartEpoch() for an epoch of which `batches` batches, of all passes so far, were returned and
  // `state` was state(). Does not read their images again. Errors: kInvalidArgument for an impossible state of the
  // source. Precondition: batches >= 0.
  absl::Status ResumeEpoch(size_t epoch, int64_t batches, const BatchStream::State& state);
  // The state after the last batch that Next() returned. Precondition: in an epoch.
  BatchStream::State state() const;
  // The number of batches of the pass that Next() has not returned yet.
  int64_t left() const { return left_; }
  // Errors: an error of the data; kInvalidArgument also for an image that the pipeline would make too large.
  // Precondition: left() > 0.
  absl::StatusOr<Batch> Next();

 private:
  TrainingData(const TrainAction& action, Batcher batcher, Pipeline pipeline);

  // Including the source's epoch.
  void StartStreams(size_t epoch);
  // Continues after its first batches.
  void StartPass(int64_t taken);
  bool DrawsOpenSet() const { return source_ != nullptr && pass_ == 0; }

  const uint64_t seed_;
  const int64_t batch_size_;
  const bool drop_last_;
  const Batcher batcher_;
  const Pipeline pipeline_;
  int64_t most_batches_ = std::numeric_limits<int64_t>::max();
  std::shared_ptr<OpenSetSource> source_;               // may be null
  std::optional<RandomStream> order_, augment_, open_;  // of the epoch
  int64_t pass_ = 0;                                    // of the epoch
  int64_t left_ = 0;
  std::unique_ptr<BatchStream> stream_;  // of the pass; uses the members above
};

// ---- What a training saves, from time to time and when it is asked to stop, and resumes from.

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// Writes `tensors` and the summary of the epochs so far to a safetensors file, atomically. `key`: of the action.
// Errors: a write error (core/files/files.h).
absl::Status SaveTrainingState(const NamedTensors& tensors, const TrainSummary& summary, const std::string& key,
                               const std::string& path);

struct SavedTraining {
  TrainSummary summary;
  TensorMap tensors;
};

// Errors: a read error (core/files/system_calls.h), of which kNotFound says that there is no file; kDataLoss or
// kInvalidArgument also if it is corrupt or of another action; kUnimplemented if a newer openset wrote it.
absl::StatusOr<SavedTraining> LoadTrainingState(const std::string& path, const std::string& key);

// Whether `saved` has the names, shapes and dtypes of `tensors`. Errors: kInvalidArgument.
absl::Status CheckTensors(const TensorMap& saved, const NamedTensors& tensors);

// A training that the caller steps. This is the body of the only optimisation loop; experiments/train/training.h runs
// it to the end.

// The life of a run:
//   1. Make() makes it before its first epoch.
//   2. Resume() restores a saved state.
//   3. Step() or FinishEpoch(), until done().
//   4. Finish(), unless the training stops early.
//   5. State() and epochs() may be read between steps, model() between epochs. Using the model there (in evaluation
//      mode, with other generators) doesn't change the training as long as its tensors are unchanged.
// All random numbers come from streams and generators that the run owns and that are named by its seed and the epoch.
// So runs that are stepped alternately give the same bits as runs one after the other, and a resumed run gives the same
// bits as one that was not stopped.
class TrainingRun {
 public:
  // Errors: an error of the data; kInvalidArgument also for augmentations that the images don't fit; as
  // MakeInitialModel() (experiments/train/checkpoint.h). Preconditions: action.training is set; `action` and `context`
  // outlive the run.
  static absl::StatusOr<std::unique_ptr<TrainingRun>> Make(const TrainAction& action, const ActionContext& context);
  ~TrainingRun();

  // Whether all epochs (up to stop_after_epochs) or max_steps steps are done.
  bool done() const;
  bool between_epochs() const { return epoch_ == nullptr; }

  // Makes one step: forward, backward, optimiser. The last step of an epoch ends the epoch.
  // Errors: an error of the data; kAborted if the epoch that it ends has a loss that is not finite.
  // Precondition: !done().
  absl::Status Step();
  // Steps to the end of the current epoch or, between epochs, of the next one. Errors and precondition: as Step().
  absl::Status FinishEpoch();
  // Makes the network that the training results in, if that is not the last one: the mean of SwaSpec. The result
  // depends on State() only, and is the same if called again. `stop` is called for each batch that it reads. Does
  // nothing if no epoch was averaged. Errors: an error of the data; kCancelled if stop() is true: the network is then
  // neither one nor the other. Precondition: done().
  absl::Status Finish(const std::function<bool()>& stop);
  // The number of epochs in that mean.
  int64_t averaged_epochs() const { return average_ == nullptr ? 0 : average_->epochs(); }

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
  Objective::Step TakeStep(const Batch& batch);
  void AddToSums(const Objective::Step& step, int64_t size);
  absl::Status EndEpoch();

  const TrainAction& action_;
  const at::Device device_;
  const std::unique_ptr<TrainingData> data_;
  const std::shared_ptr<Model> model_;
  const ImportNotes import_notes_;
  at::Generator generator_;  // of dropout
  Objective objective_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<WeightAverage> average_;  // null without SwaSpec
  const at::Tensor rate_;                   // the learning rate, a scalar on the device
  double rate_value_ = -1;

  std::vector<EpochSummary> epochs_;
  int64_t steps_ = 0;
  std::unique_ptr<Epoch> epoch_;  // the current one
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_TRAINING_RUN_H_

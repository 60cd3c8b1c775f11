// The objective of a training step: runs the model, makes the open set, and sums the loss terms.
#ifndef OPENSET_EXPERIMENTS_TRAIN_OBJECTIVE_H_
#define OPENSET_EXPERIMENTS_TRAIN_OBJECTIVE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/random.h"
#include "core/tensor/batch.h"
#include "core/tensor/open_set.h"
#include "core/tensor/torch.h"
#include "experiments/spec/action.proto.h"
#include "losses/loss.h"
#include "models/model.h"

namespace openset {

// The terms get the model's output in f32 (or f64, for a model in f64), whatever precision it computes in.
class Objective {
 public:
  using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

  // `source` may be null. `model` and `action` must outlive this object. The model is on the device.
  Objective(const TrainAction& action, at::Device device, int64_t num_samples, std::shared_ptr<Model> model,
            std::unique_ptr<OpenSetSource> source);

  struct Step {
    at::Tensor objective;          // the scalar to differentiate
    std::vector<at::Tensor> term;  // f64 scalars, lambda included, without gradient; 0 for terms left out
    at::Tensor hit;                // bool [B]: classified correctly by this pass
  };

  // Call it before the first step of each epoch, counted from 0.
  void StartEpoch(int epoch, RandomStream* random);
  // Computes the objective of one batch. Leaves out terms that need the open set if there is none, and terms that start
  // at a later epoch. The images of the batch, its views and the open-set source pass through the model together.
  // Errors: those of the source.
  absl::StatusOr<Step> Compute(const Batch& batch, bool with_open_set, RandomStream* random);
  // Call it after the optimiser's step. Updates the history of samples, and what terms learn by their own rules.
  void EndStep(const Batch& batch, const at::Tensor& hit);
  // Call it when `epochs` epochs are complete.
  void SetCompleteEpochs(int64_t epochs);

  // The parameters of terms that the model's optimiser trains, by name.
  NamedTensors Parameters() const;
  // All state that training changes, except the model and its optimiser; for checkpoints.
  NamedTensors State() const;
  // The additional state of the current epoch, that of the open-set source (core/tensor/open_set.h). After StartEpoch()
  // of the same epoch, it can be restored. Errors: kInvalidArgument for an impossible state.
  std::vector<int64_t> EpochState() const;
  absl::Status ResumeEpoch(absl::Span<const int64_t> state);

 private:
  struct Passes {
    ModelOutput known;
    std::vector<ModelOutput> view;
    ModelOutput extra;
  };
  Passes Forward(const Batch& batch, const at::Tensor& extra_images);
  bool HasBegun(size_t term) const;
  OpenSet MakeOpenSet(const Batch& batch, const Passes& passes, RandomStream* random);

  const TrainAction& action_;
  const at::Device device_;
  const std::shared_ptr<Model> model_;
  const std::unique_ptr<OpenSetSource> source_;
  std::vector<std::unique_ptr<LossTerm>> terms_;
  std::vector<bool> needs_open_set_;      // of each term
  std::optional<SampleHistory> history_;  // if a term needs it
  int epoch_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_OBJECTIVE_H_

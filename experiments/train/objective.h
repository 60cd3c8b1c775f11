// What a training step minimises: the model's passes, the open set, and the sum of the loss terms.
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

// The terms see the model's output in f32 (or f64, for a model in f64), whatever precision it computes in.
class Objective {
 public:
  using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

  // `source` may be null; `model` and `action` outlive this. The model is on the device.
  Objective(const TrainAction& action, at::Device device, int64_t num_samples, std::shared_ptr<Model> model,
            std::unique_ptr<OpenSetSource> source);

  struct Step {
    at::Tensor objective;          // the scalar to differentiate
    std::vector<at::Tensor> term;  // f64 scalars, lambda included, without gradient; 0 for terms left out
    at::Tensor hit;                // bool [B]: classified correctly by this pass
  };

  // Before the first step of each epoch, from 0.
  void StartEpoch(int epoch, RandomStream* random);
  // Of one batch. Without the open set, terms that need it are left out, and before their epoch those that have one.
  // The images of batch, views and open-set source pass through the model together. Errors: those of the source.
  absl::StatusOr<Step> Compute(const Batch& batch, bool with_open_set, RandomStream* random);
  // After the optimiser's step: what terms remember of each sample, and learn by rules of their own.
  void EndStep(const Batch& batch, const at::Tensor& hit);
  // `epochs` epochs are complete.
  void SetCompleteEpochs(int64_t epochs);

  // What the model's optimiser trains beside the model, by name.
  NamedTensors Parameters() const;
  // All that changes in training but the model and its optimiser; for checkpoints.
  NamedTensors State() const;
  // Beside it, of the epoch under way: the open-set source's (core/tensor/open_set.h). After StartEpoch() of the same
  // epoch it is taken back. Errors: kInvalidArgument for what it can't have been.
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

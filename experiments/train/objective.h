// The objective of a training step: runs the model, makes the open set, and sums the loss terms.
#ifndef OPENSET_EXPERIMENTS_TRAIN_OBJECTIVE_H_
#define OPENSET_EXPERIMENTS_TRAIN_OBJECTIVE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/batch.h"
#include "core/tensor/open_set.h"
#include "core/tensor/torch.h"
#include "experiments/spec/action.proto.h"
#include "experiments/train/optimizer.h"
#include "losses/loss.h"
#include "models/model.h"

namespace openset {

// The terms get the model's output in f32 (or f64, for a model in f64), whatever precision it computes in.
class Objective {
 public:
  using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

  // `source` may be null. `model` and `action` must outlive this object. The model is on the device.
  Objective(const TrainAction& action, at::Device device, int64_t num_samples, std::shared_ptr<Model> model,
            std::shared_ptr<OpenSetSource> source);

  struct Step {
    at::Tensor objective;          // the scalar to differentiate
    std::vector<at::Tensor> term;  // scalars, lambda included, without gradient; 0 for terms left out
    at::Tensor hit;                // bool [B]: classified correctly by this pass
  };

  // Call it before the first step of each epoch, counted from 0.
  void StartEpoch(int epoch) { epoch_ = epoch; }
  // Computes the objective of one batch. Leaves out terms that need the open set if batch.open is empty, and terms that
  // start at a later epoch. The images of the batch, its views and batch.open pass through the model together.
  // Precondition: batch.open is what the source drew; it is empty if the source is null.
  Step Compute(const Batch& batch);
  void Differentiate(const Step& step) const { step.objective.backward(one_); }
  // Call it after the optimiser's step. Updates the history of samples, and what terms learn by their own rules.
  void EndStep(const Batch& batch, const at::Tensor& hit);
  // Call it when `epochs` epochs are complete.
  void SetCompleteEpochs(int64_t epochs);

  // The parameters of terms that the model's optimiser trains, by name.
  NamedTensors Parameters() const;
  // All state that training changes, except the model and its optimiser; for checkpoints.
  NamedTensors State() const;

 private:
  struct Passes {
    ModelOutput known;
    std::vector<ModelOutput> view;
    ModelOutput extra;
  };
  Passes Forward(const Batch& batch, const at::Tensor& extra_images);
  bool HasBegun(size_t term) const;
  OpenSet MakeOpenSet(const Batch& batch, const Passes& passes);

  const TrainAction& action_;
  const at::Device device_;
  const std::shared_ptr<Model> model_;
  const std::shared_ptr<OpenSetSource> source_;
  const at::Tensor one_;  // made once, because each step needs it
  std::vector<std::unique_ptr<LossTerm>> terms_;
  std::vector<bool> needs_open_set_;      // of each term
  std::optional<SampleHistory> history_;  // if a term needs it
  int epoch_ = 0;
};

// Computes the objective of a batch and leaves its gradients in the optimiser's parameters; with SamSpec, the gradients
// at the place to which it climbs. Precondition: the parameters belong to the objective and to its model.
Objective::Step Differentiate(const Batch& batch, const Model& model, Objective* objective, Optimizer* optimizer);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_OBJECTIVE_H_

// The optimiser of a training, the learning rate over it, and the mean of its weights.
#ifndef OPENSET_EXPERIMENTS_TRAIN_OPTIMIZER_H_
#define OPENSET_EXPERIMENTS_TRAIN_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/torch.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/optimizer.pb.h"

namespace openset {

// ---- The learning rate over a training.

// A step of a training.
struct TrainingTime {
  int epoch;                // from 0
  int64_t step;             // of the epoch, from 0
  int64_t steps_per_epoch;  // at least 1
};

// The rate of a step as a fraction of the initial one. experiments/spec/method.proto has the formulas.
// Precondition: the spec obeys its schema's rules and has its defaults filled in.
double LearningRateFactor(const ScheduleSpec& spec, const TrainingTime& time);

// The first epoch whose weights count (SwaSpec.start). Precondition: training.has_swa().
int FirstAveragedEpoch(const TrainingSpec& training);

// The rate of a step: the schedule's or, after the first averaged epoch, SwaSpec's.
double LearningRate(const TrainingSpec& training, const TrainingTime& time);

// ---- Optimisers that use LibTorch's fused kernels: one call for all parameters, on every device.

// Life: made with the parameters, once for a training. In each step, ZeroGradients() clears the gradients, backward()
// fills them, and Step() uses them. With SamSpec, Climb() before it moves the parameters to where the gradients of the
// step are computed, again from ZeroGradients() on, and Return() moves them back.
class Optimizer {
 public:
  using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

  virtual ~Optimizer() = default;

  void ZeroGradients();
  // OptimizerSpec.missing_gradient says what happens to parameters without a gradient. The rate is a result of
  // MakeLearningRate(), on the parameters' device.
  virtual void Step(const at::Tensor& learning_rate) = 0;
  // Null without SamSpec.
  const SamSpec* sam() const { return has_sam_ ? &sam_ : nullptr; }
  // To w + e of SamSpec, for parameters with a gradient; the others stay. Precondition: sam() is not null.
  void Climb();
  // To exactly where Climb() began.
  void Return();
  // The optimiser's state, by name. It is saved, and overwritten when a training resumes.
  virtual NamedTensors State() const = 0;

 protected:
  Optimizer(const OptimizerSpec& spec, NamedTensors parameters);

  // The gradient of parameter i in this step; undefined if the parameter is left out. Call it once for each step and
  // parameter.
  at::Tensor GradientOf(size_t i);
  // The part of State() that all kinds have: which parameters have had a gradient, if that matters.
  void AddState(NamedTensors* state) const;

  NamedTensors parameters_;

 private:
  const bool has_sam_;
  const SamSpec sam_;
  std::vector<at::Tensor> climbed_;  // the parameters that moved, between Climb() and Return()
  std::vector<at::Tensor> before_;   // where each was
  at::Tensor had_gradient_;          // bool [parameters] on the CPU; undefined if missing gradients are left out
};

// Returns a scalar for learning rates, which fill_() sets. It has the type that the device's fused kernels need: f64 on
// the CPU, f32 on others.
at::Tensor MakeLearningRate(at::Device device, double value = 0);

// Formulas in experiments/spec/method.proto. Precondition: the spec obeys its schema's rules and has its defaults
// filled in; the parameters are where they will be trained.
std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerSpec& spec, Optimizer::NamedTensors parameters);

// The mean of a network's weights over epochs (SwaSpec).
class WeightAverage {
 public:
  using NamedTensors = Optimizer::NamedTensors;

  // Starts before the first epoch. `weights` outlive it.
  explicit WeightAverage(NamedTensors weights);

  // The weights as they are now count as one more epoch: mean += (weights - mean) / epochs.
  void Add();
  int64_t epochs() const { return epochs_.item<int64_t>(); }
  // Sets the weights to their mean. Precondition: epochs() > 0.
  void SetWeights() const;
  // By name: what a training saves, and overwrites when it resumes.
  NamedTensors State() const;

 private:
  const NamedTensors weights_;
  std::vector<at::Tensor> mean_;
  const at::Tensor epochs_;  // i64 [], on the CPU
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_OPTIMIZER_H_

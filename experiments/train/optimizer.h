// Optimisers, by LibTorch's fused kernels: one call for all parameters, on every device.
#ifndef OPENSET_EXPERIMENTS_TRAIN_OPTIMIZER_H_
#define OPENSET_EXPERIMENTS_TRAIN_OPTIMIZER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/torch.h"
#include "experiments/spec/method.proto.h"

namespace openset {

// Life: made with the parameters, once a training; then, each step, the gradients are cleared (ZeroGradients), filled
// by backward(), and used (Step).
class Optimizer {
 public:
  using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

  virtual ~Optimizer() = default;

  void ZeroGradients();
  // Parameters without a gradient are what OptimizerSpec.missing_gradient says. The rate is one of MakeLearningRate(),
  // on the parameters' device.
  virtual void Step(const at::Tensor& learning_rate) = 0;
  // What it remembers, by name; to be saved, and copied into when a training resumes.
  virtual NamedTensors State() const = 0;

 protected:
  Optimizer(const OptimizerSpec& spec, NamedTensors parameters);

  // Of parameter i, in this step; undefined if it is left out. Once a step and parameter.
  at::Tensor GradientOf(size_t i);
  // What State() has beside the kind's own: which parameters have had a gradient, where that matters.
  void AddState(NamedTensors* state) const;

  NamedTensors parameters_;

 private:
  at::Tensor had_gradient_;  // bool [parameters] on the CPU; undefined where missing gradients are left out
};

// A scalar for learning rates, which fill_() sets; its type is what the fused kernels of the device take: f64 on the
// CPU, f32 on others.
at::Tensor MakeLearningRate(at::Device device, double value = 0);

// Formulas in experiments/spec/method.proto. Precondition: the spec obeys its schema's rules and has its defaults
// filled in; the parameters are where they will be trained.
std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerSpec& spec, Optimizer::NamedTensors parameters);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_OPTIMIZER_H_

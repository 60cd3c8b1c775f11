// Parts of networks that hold parameters and buffers by name.
//
// It has the part of torch::nn::Module's interface that networks use, with the same names and meaning. That header
// itself would add 12 s to the compilation of each file that includes it.
#ifndef OPENSET_MODELS_LAYERS_MODULE_H_
#define OPENSET_MODELS_LAYERS_MODULE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/torch.h"
#include "core/tensor/torch_dict.h"

namespace openset {

// Tensors by name, in the order of registration.
using TensorDict = torch::OrderedDict<std::string, at::Tensor>;

// A module owns tensors and further modules. A tensor of the module "conv1" of this one is named "conv1.weight". New
// modules are in training mode, on the CPU. Not thread-safe.
class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Each adds a tensor or module under a new name and returns it. A parameter may be undefined; the functions below
  // then ignore it. Precondition: this module doesn't have the name yet (else c10::Error).
  at::Tensor register_parameter(const std::string& name, at::Tensor tensor, bool requires_grad = true);
  at::Tensor register_buffer(const std::string& name, at::Tensor tensor);
  template <typename T>
  std::shared_ptr<T> register_module(const std::string& name, std::shared_ptr<T> module) {
    modules_.insert(name, module);
    return module;
  }

  // The tensors of this module, then of the modules below it, depth first. They share memory with the module's.
  TensorDict named_parameters() const;
  TensorDict named_buffers() const;
  std::vector<at::Tensor> parameters() const { return named_parameters().values(); }
  // The modules below this one, depth first, with their paths ("layer1.0.conv1").
  std::vector<std::pair<std::string, Module*>> named_modules() const;

  // Sets training or evaluation mode for this module and those below it.
  virtual void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return is_training_; }

  // Moves or converts all parameters and buffers. They remain the same tensors, so that everything that refers to them
  // sees the change. Counts (i64 without dimensions) stay on the CPU, where an increment costs no launch.
  virtual void to(at::Device device, at::ScalarType type, bool non_blocking = false);
  virtual void to(at::ScalarType type, bool non_blocking = false);
  virtual void to(at::Device device, bool non_blocking = false);

  // Drops the gradients of all parameters.
  void zero_grad();

 private:
  template <typename... Args>
  void Convert(Args... args);

  TensorDict parameters_;
  TensorDict buffers_;
  torch::OrderedDict<std::string, std::shared_ptr<Module>> modules_;
  bool is_training_ = true;
};

// A module that only names its submodules and parameters.
class Parts : public Module {};

}  // namespace openset

#endif  // OPENSET_MODELS_LAYERS_MODULE_H_

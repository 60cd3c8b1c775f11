#include "models/layers/module.h"

namespace openset {

at::Tensor Module::register_parameter(const std::string& name, at::Tensor tensor, bool requires_grad) {
  if (tensor.defined()) tensor.set_requires_grad(requires_grad);
  return parameters_.insert(name, std::move(tensor));
}

at::Tensor Module::register_buffer(const std::string& name, at::Tensor tensor) {
  return buffers_.insert(name, std::move(tensor));
}

std::vector<std::pair<std::string, Module*>> Module::named_modules() const {
  std::vector<std::pair<std::string, Module*>> modules;
  for (const auto& child : modules_) {
    modules.emplace_back(child.key(), child.value().get());
    for (const auto& [path, module] : child.value()->named_modules()) {
      modules.emplace_back(child.key() + "." + path, module);
    }
  }
  return modules;
}

TensorDict Module::named_parameters() const {
  TensorDict all;
  for (const auto& parameter : parameters_) {
    if (parameter.value().defined()) all.insert(parameter.key(), parameter.value());
  }
  for (const auto& [path, module] : named_modules()) {
    for (const auto& parameter : module->parameters_) {
      if (parameter.value().defined()) all.insert(path + "." + parameter.key(), parameter.value());
    }
  }
  return all;
}

TensorDict Module::named_buffers() const {
  TensorDict all = buffers_;
  for (const auto& [path, module] : named_modules()) {
    for (const auto& buffer : module->buffers_) all.insert(path + "." + buffer.key(), buffer.value());
  }
  return all;
}

void Module::train(bool on) {
  for (const auto& child : modules_) child.value()->train(on);
  is_training_ = on;
}

template <typename... Args>
void Module::Convert(Args... args) {
  for (const auto& child : modules_) child.value()->to(args...);
  for (TensorDict* tensors : {&parameters_, &buffers_}) {
    for (auto& tensor : *tensors) {
      if (!tensor->defined()) continue;
      const bool is_count = tensor->scalar_type() == at::kLong && tensor->dim() == 0;
      if (!is_count) tensor->set_data(tensor->to(args...));
    }
  }
}

void Module::to(at::Device device, at::ScalarType type, bool non_blocking) { Convert(device, type, non_blocking); }
void Module::to(at::ScalarType type, bool non_blocking) { Convert(type, non_blocking); }
void Module::to(at::Device device, bool non_blocking) { Convert(device, non_blocking); }

void Module::zero_grad() {
  for (at::Tensor& parameter : parameters()) parameter.mutable_grad().reset();
}

}  // namespace openset

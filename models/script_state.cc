#include "models/script_state.h"

#include <cstddef>

#include "core/tensor/torch_generator.h"

namespace openset {
namespace {

bool IsListOfNumbers(const at::IValue& value) {
  return value.isIntList() || value.isDoubleList() || value.isBoolList();
}

bool IsSame(const at::IValue& before, const at::IValue& now) {
  return IsListOfNumbers(now) ? before == now : now.is(before) && !now.isList() && !now.isGenericDict();
}

uint32_t VersionOf(const at::IValue& value) {
  return value.isTensor() && value.toTensor().defined() ? value.toTensor()._version() : 0;
}

at::Tensor GeneratorState() { return at::globalContext().defaultGenerator(at::kCPU).get_state(); }

}  // namespace

ScriptState::ScriptState(const torch::jit::Module& script) : generator_state_(GeneratorState()) {
  for (const at::IValue& value : script.attributes()) {
    values_.emplace_back(IsListOfNumbers(value) ? value.deepcopy() : value, VersionOf(value));
  }
}

bool ScriptState::IsUnchanged(const torch::jit::Module& script) const {
  size_t i = 0;
  for (const at::IValue& value : script.attributes()) {
    if (i == values_.size() || !IsSame(values_[i].first, value) || VersionOf(value) != values_[i].second) return false;
    ++i;
  }
  return i == values_.size() && at::equal(GeneratorState(), generator_state_);
}

}  // namespace openset

// Finds out whether a script's passes change what later passes depend on.
#ifndef OPENSET_MODELS_SCRIPT_STATE_H_
#define OPENSET_MODELS_SCRIPT_STATE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/tensor/torch.h"
#include "core/tensor/torch_script.h"

namespace openset {

// What a pass of a script can change: the values of its attributes, the contents of its tensors, and the state of
// LibTorch's default generator for the CPU, from which the script may draw.
class ScriptState {
 public:
  explicit ScriptState(const torch::jit::Module& script);

  // Whether nothing has changed since. False for a script with a dictionary, or a list of anything but numbers, as an
  // attribute: changes in these would not be noticed.
  bool IsUnchanged(const torch::jit::Module& script) const;

 private:
  std::vector<std::pair<at::IValue, uint32_t>> values_;  // each with its version, 0 if it is not a tensor
  at::Tensor generator_state_;
};

}  // namespace openset

#endif  // OPENSET_MODELS_SCRIPT_STATE_H_

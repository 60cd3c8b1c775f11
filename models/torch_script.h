// Networks from TorchScript archives: their files, their state, and the model that runs them.
#ifndef OPENSET_MODELS_TORCH_SCRIPT_H_
#define OPENSET_MODELS_TORCH_SCRIPT_H_

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "core/tensor/torch_script.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Reads TorchScript archives: networks that were saved from Python with their code (torch.jit.script or
// torch.jit.trace, then save()).

// The script in an archive, with all its tensors on `device`, including constants in its code, which Module::to() does
// not move. Loading may run code of the archive (__setstate__), as using it does, so this is not for weights. Errors,
// without the file's name: kInvalidArgument for bytes that are not an archive, for files of torch.save() (Python
// objects without code), and for a script that this LibTorch can't read.
absl::StatusOr<torch::jit::Module> ReadScript(const std::string& bytes, at::Device device = at::kCPU);

// LibTorch's message for a failure, on one line and without its stack trace.
std::string WhatFailed(const std::exception& error);

// ---- Finds out whether a script's passes change what later passes depend on.

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

// ---- A user's own network, from a TorchScript archive.

// Returns the script as a model, with the file's parameters. Runs the script on images as in `input` to find out what
// it returns.
//   * With spec.head, the backbone returns the inputs of that linear module, [B, D], and the model's head is a linear
//     one with its weights. If the script returns logits, it is run with the module's weight replaced by the identity
//     and its bias by 0; if it returns (features, logits), the features are used. The model can be trained.
//   * Without spec.head, the backbone returns the script's outputs concatenated and the head splits them: logits, and
//     features if spec.features says so. The model can't be trained.
// The logits of the known classes are those that spec.output lists, in its order. Initialise() draws nothing. Dropout
// inside a script can't be switched on alone; in training mode, it draws from the model's generator, if one is set.
// The script's parameters, buffers and constants are on use.device. The script is run there once, and if it will be
// trained, its gradients are computed once. Errors of the device (out of memory, a failure) are rethrown; see
// core/tensor/torch_error.h.
//
// Errors, with the file: a read error (core/files/system_calls.h); kFailedPrecondition if it has another SHA-256;
// kInvalidArgument if it is not a script; if the script fails on two or on three such images (its code may name another
// device); if its outputs do not have the shapes above, are NaN, are probabilities (rows without a negative number that
// sum to 1 within 1e-4, so that it ends in a softmax) or are not one for each known class; if it has no such linear
// module or its logits are not that module's outputs.
absl::StatusOr<std::shared_ptr<Model>> MakeTorchScriptModel(const TorchScriptSpec& spec, const InputSpec& input,
                                                            int num_classes, const ModelUse& use = {});

}  // namespace openset

#endif  // OPENSET_MODELS_TORCH_SCRIPT_H_

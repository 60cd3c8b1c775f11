// Reads TorchScript archives: networks that were saved from Python with their code (torch.jit.script or
// torch.jit.trace, then save()).
#ifndef OPENSET_MODELS_SCRIPT_FILE_H_
#define OPENSET_MODELS_SCRIPT_FILE_H_

#include <exception>
#include <string>

#include "absl/status/statusor.h"
#include "core/tensor/torch_script.h"

namespace openset {

// The script in an archive, with all its tensors on `device`, including constants in its code, which Module::to() does
// not move. Loading may run code of the archive (__setstate__), as using it does, so this is not for weights. Errors,
// without the file's name: kInvalidArgument for bytes that are not an archive, for files of torch.save() (Python
// objects without code), and for a script that this LibTorch can't read.
absl::StatusOr<torch::jit::Module> ReadScript(const std::string& bytes, at::Device device = at::kCPU);

// LibTorch's message for a failure, on one line and without its stack trace.
std::string WhatFailed(const std::exception& error);

}  // namespace openset

#endif  // OPENSET_MODELS_SCRIPT_FILE_H_

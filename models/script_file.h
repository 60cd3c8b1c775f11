// Reads TorchScript archives: networks that were saved from Python with their code (torch.jit.script or
// torch.jit.trace, then save()).
#ifndef OPENSET_MODELS_SCRIPT_FILE_H_
#define OPENSET_MODELS_SCRIPT_FILE_H_

#include <exception>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/tensor/torch_script.h"
#include "models/checkpoint.h"

namespace openset {

// Whether `bytes` begin like an archive of torch.save() or TorchScript.
bool IsTorchArchive(absl::string_view bytes);

// The script in an archive, with all its tensors on `device`, including constants in its code, which Module::to() does
// not move. Loading runs none of its code. Errors, without the file's name: kInvalidArgument for bytes that are not an
// archive, for an archive of torch.save() (Python objects without code), and for a script that this LibTorch can't
// read.
absl::StatusOr<torch::jit::Module> ReadScript(const std::string& bytes, at::Device device = at::kCPU);

// The parameters and buffers of the script in an archive. Errors: as ReadScript().
absl::StatusOr<TensorMap> ReadArchiveTensors(const std::string& bytes);

// LibTorch's message for a failure, on one line and without its stack trace.
std::string WhatFailed(const std::exception& error);

}  // namespace openset

#endif  // OPENSET_MODELS_SCRIPT_FILE_H_

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

// Whether `bytes` begin as the archives of torch.save() and TorchScript do.
bool IsTorchArchive(absl::string_view bytes);

// The script in an archive, with all its tensors, those among its code's constants too, on `device`: Module::to() does
// not move constants. Loading runs no code of it. Errors: kInvalidArgument for bytes that are no
// archive, for one that torch.save() made (Python objects without code), and for a script that this
// LibTorch can't read; they don't name the file.
absl::StatusOr<torch::jit::Module> ReadScript(const std::string& bytes, at::Device device = at::kCPU);

// The parameters and buffers of the script in an archive. Errors: as ReadScript().
absl::StatusOr<TensorMap> ReadArchiveTensors(const std::string& bytes);

// LibTorch's message for a failure, on one line and without its stack trace.
std::string WhatFailed(const std::exception& error);

}  // namespace openset

#endif  // OPENSET_MODELS_SCRIPT_FILE_H_

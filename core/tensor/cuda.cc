#include "core/tensor/cuda.h"

#include <string>

#include "core/process/gpu/cuda_library.h"
#include "core/status_macros.h"
#include "core/tensor/torch_hooks.h"

namespace openset {
namespace {

absl::Status Prepare() {
  if (!at::CUDAHooksRegistry()->Has("CUDAHooks")) {
    OPENSET_ASSIGN_OR_RETURN(const std::string library, FindCudaLibrary());
    OPENSET_RETURN_IF_ERROR(LoadCudaLibrary(library));
  }
  if (at::globalContext().hasCUDA()) return absl::OkStatus();
  return absl::FailedPreconditionError("LibTorch sees no GPU here; 'openset devices' lists the devices");
}

}  // namespace

absl::Status MakeCudaUsable() {
  static const auto* const status = new absl::Status(Prepare());
  return *status;
}

}  // namespace openset

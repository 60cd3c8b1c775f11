#include "core/tensor/torch_error.h"

#include <algorithm>
#include <initializer_list>
#include <new>
#include <string>

#include "absl/strings/match.h"
#include "core/tensor/torch.h"

namespace openset {
namespace {

// cudaErrorMemoryAllocation, also for pinned memory.
constexpr int kCudaMemory = 2;

bool HasAny(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(), [&text](const char* part) { return absl::StrContains(text, part); });
}

// "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED" and so on.
bool SaysMemory(const std::string& text) {
  return HasAny(text, {"CUDA out of memory", "CUDA error: out of memory", "CUDA driver error: out of memory",
                       "ALLOC_FAILED", "ALLOCATION_FAILED", "can't allocate memory",
                       // A convolution for whose working memory there was no room.
                       "unable to find an engine to execute this computation"});
}

bool SaysDevice(const std::string& text) {
  return HasAny(text, {"CUDA error: ", "CUDA driver error: ", "CUDNN_STATUS_EXECUTION_FAILED",
                       "CUDNN_STATUS_INTERNAL_ERROR", "CUDNN_STATUS_NOT_INITIALIZED"});
}

}  // namespace

absl::StatusCode CodeOfTorchError(const std::exception& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
      dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return absl::StatusCode::kResourceExhausted;
  }
  if (const auto* device = dynamic_cast<const c10::AcceleratorError*>(&error); device != nullptr) {
    return device->get_error_code() == kCudaMemory ? absl::StatusCode::kResourceExhausted
                                                   : absl::StatusCode::kUnavailable;
  }
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = of_torch != nullptr ? of_torch->what_without_backtrace() : error.what();
  if (SaysMemory(text)) return absl::StatusCode::kResourceExhausted;
  return SaysDevice(text) ? absl::StatusCode::kUnavailable : absl::StatusCode::kInternal;
}

}  // namespace openset

#include "core/tensor/torch_error.h"

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include "core/tensor/torch.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using absl::StatusCode;

constexpr c10::SourceLocation kHere = {"function", "file", 1};

StatusCode CodeOf(const std::string& text) { return CodeOfTorchError(c10::Error(kHere, text)); }

StatusCode CodeOfCuda(int32_t number) {
  return CodeOfTorchError(c10::AcceleratorError(kHere, number, "CUDA error: what it is"));
}

TEST(CodeOfTorchError, OutOfMemory) {
  EXPECT_EQ(CodeOfTorchError(c10::OutOfMemoryError(kHere, "CUDA out of memory.")), StatusCode::kResourceExhausted);
  EXPECT_EQ(CodeOfTorchError(std::bad_alloc()), StatusCode::kResourceExhausted);
  EXPECT_EQ(CodeOfCuda(2), StatusCode::kResourceExhausted);
  for (const char* text :
       {"CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED", "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "CUDA error: out of memory", "CUDA driver error: out of memory",
        "GET was unable to find an engine to execute this computation",
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."}) {
    EXPECT_EQ(CodeOf(text), StatusCode::kResourceExhausted) << text;
  }
}

// 700: an illegal address; 719: a launch that failed; 35: a driver that is too old.
TEST(CodeOfTorchError, ADeviceThatCannotBeUsedAnyMore) {
  for (const int number : {700, 719, 35}) EXPECT_EQ(CodeOfCuda(number), StatusCode::kUnavailable);
  for (const char* text : {"CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(...)`",
                           "CUDA driver error: device kernel image is invalid",
                           "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR", "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"}) {
    EXPECT_EQ(CodeOf(text), StatusCode::kUnavailable) << text;
  }
}

TEST(CodeOfTorchError, RecognisesErrorsOfScriptsByTheirText) {
  EXPECT_EQ(CodeOfTorchError(std::runtime_error("The following operation failed in the TorchScript interpreter.\n"
                                                "RuntimeError: CUDA error: an illegal memory access was encountered")),
            StatusCode::kUnavailable);
  EXPECT_EQ(CodeOfTorchError(std::runtime_error("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB")),
            StatusCode::kResourceExhausted);
}

TEST(CodeOfTorchError, AllElseWouldComeAgain) {
  for (const char* text : {"mat1 and mat2 shapes cannot be multiplied", "cuDNN error: CUDNN_STATUS_BAD_PARAM",
                           "Expected all tensors to be on the same device"}) {
    EXPECT_EQ(CodeOf(text), StatusCode::kInternal) << text;
  }
  EXPECT_EQ(CodeOfTorchError(std::runtime_error("a library threw")), StatusCode::kInternal);
  // Whatever LibTorch itself throws.
  try {
    at::mm(at::ones({1, 2}), at::ones({1, 2}));
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_EQ(CodeOfTorchError(error), StatusCode::kInternal);
  }
  try {
    at::empty({int64_t{1} << 60});
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_EQ(CodeOfTorchError(error), StatusCode::kResourceExhausted);
  }
}

}  // namespace
}  // namespace openset

// Gives the worker simulated GPUs (core/tensor/testing/memory_gpu.h) that may fail. MEMORY_GPU_FAILS is "device N FILE"
// or "memory N FILE": in the first process that runs this, which creates FILE, the N-th operation fails.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "core/tensor/testing/memory_gpu.h"

namespace openset {
namespace {

[[maybe_unused]] const bool kIsSet = [] {
  const char* text = std::getenv("MEMORY_GPU_FAILS");
  if (text == nullptr) return false;
  std::string kind, file;
  int64_t n = 0;
  std::istringstream(text) >> kind >> n >> file;
  const int made = open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (made < 0) return false;
  close(made);
  FailGpuOperation(n, kind == "memory" ? GpuFailure::kOutOfMemory : GpuFailure::kDeviceError);
  return true;
}();

}  // namespace
}  // namespace openset

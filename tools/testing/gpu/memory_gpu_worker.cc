// Gives the worker simulated GPUs (core/tensor/testing/memory_gpu.h) that may fail. MEMORY_GPU_FAILS is "device N FILE"
// or "memory N FILE": in the first process that runs this, which creates FILE, the N-th operation fails.
// MEMORY_GPU_ONLY is the number of the only GPU on which a context may be made.
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
  if (const char* only = std::getenv("MEMORY_GPU_ONLY"); only != nullptr) AllowOnlyGpu(std::atoi(only));
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

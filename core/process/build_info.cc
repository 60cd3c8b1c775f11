#include "core/process/build_info.h"

// Defined by //tools:build_stamp.
extern const char openset_build_commit[] __attribute__((weak));

namespace openset {

std::string BuildCommit() { return openset_build_commit == nullptr ? "unknown" : openset_build_commit; }

bool BuiltWithCuda() {
#ifdef OPENSET_CUDA
  return true;
#else
  return false;
#endif
}

}  // namespace openset

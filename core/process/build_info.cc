#include "core/process/build_info.h"

#include "third_party/revisions.h"

// Defined by //tools:build_stamp.
extern const char openset_build_commit[] __attribute__((weak));

namespace openset {

std::string BuildCommit() { return openset_build_commit == nullptr ? "unknown" : openset_build_commit; }

std::string ThirdPartyRevisions() { return openset_third_party_revisions; }

bool BuiltWithCuda() {
#ifdef OPENSET_CUDA
  return true;
#else
  return false;
#endif
}

}  // namespace openset

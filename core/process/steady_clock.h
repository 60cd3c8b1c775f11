// A monotonic clock, which neither people nor time servers set.
#ifndef OPENSET_CORE_PROCESS_STEADY_CLOCK_H_
#define OPENSET_CORE_PROCESS_STEADY_CLOCK_H_

#include <chrono>

#include "absl/time/time.h"

namespace openset {

// The time since some fixed point; never jumps.
inline absl::Duration SteadyNow() { return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_STEADY_CLOCK_H_

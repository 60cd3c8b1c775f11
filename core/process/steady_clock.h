// A clock for lengths of time, which people and time servers do not set.
#ifndef OPENSET_CORE_PROCESS_STEADY_CLOCK_H_
#define OPENSET_CORE_PROCESS_STEADY_CLOCK_H_

#include <chrono>

#include "absl/time/time.h"

namespace openset {

// Since some fixed point of time; never steps.
inline absl::Duration SteadyNow() { return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_STEADY_CLOCK_H_

// Sorts positions by a floating-point key.
#ifndef OPENSET_EVAL_METRICS_STABLE_ORDER_H_
#define OPENSET_EVAL_METRICS_STABLE_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace openset {

// The positions 0 .. N-1 by ascending key; positions with equal keys (0 and -0 are equal) are ascending. A radix sort
// over the first 33 bits in which keys differ, followed by comparisons of keys that are equal so far; 33 bits suffice
// for keys that were floats of one sign. Needs at most 20 bytes per key, including the result. Preconditions: no key is
// NaN, N < 2^31.
std::vector<uint32_t> StableOrder(absl::Span<const double> key);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_STABLE_ORDER_H_

// Sorting positions by a floating-point key.
#ifndef OPENSET_EVAL_METRICS_STABLE_ORDER_H_
#define OPENSET_EVAL_METRICS_STABLE_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace openset {

// The positions 0 .. N-1 by ascending key, those of equal keys (0 and -0 are equal) ascending. A radix sort over the
// first 33 bits in which keys differ, which are all of keys that were floats of one sign, and comparisons where these
// are equal. It needs 20 bytes a key at most, the result included. Preconditions: no key is NaN, N < 2^31.
std::vector<uint32_t> StableOrder(absl::Span<const double> key);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_STABLE_ORDER_H_

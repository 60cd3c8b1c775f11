// Hostile cases that are drawn.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_CASES_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_CASES_H_

#include <cstdint>

#include "tools/testing/hostile/hostile_case.h"

namespace openset {

// One of: a file of the ground with changed bytes; a message in a file with changed fields, under checksums that fit; a
// link, pipe, closed file ... in a file's place; flags and values that are thrown together; what processes leave and
// say (RandomProcessCase()). The same seed gives the same.
HostileCase RandomCase(uint64_t seed);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_CASES_H_

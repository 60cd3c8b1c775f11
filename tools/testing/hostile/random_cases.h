// Random hostile cases.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_CASES_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_CASES_H_

#include <cstdint>

#include "tools/testing/hostile/hostile_case.h"

namespace openset {

// Returns one of: a file of the fixture with changed bytes; a message in a file with changed fields and correct
// checksums; a link, a pipe, an unreadable file ... in place of a file; a random combination of flags and values;
// RandomProcessCase(). The same seed gives the same case.
HostileCase RandomCase(uint64_t seed);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_CASES_H_

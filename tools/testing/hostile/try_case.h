// Tries a hostile case with the program.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_TRY_CASE_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_TRY_CASE_H_

#include <string>

#include "tools/testing/hostile/hostile_case.h"

namespace openset {

// Makes a fixture, changes it, and runs `openset COMMAND` in it, without standard input, as a user to whom file modes
// apply. Returns what is wrong with the result, in one or more lines; "" if nothing is. In addition to the case's own
// checks, these are errors:
//   an end by a signal or with an exit code other than 0, 1 and 2; one other than 0 with nothing on standard error
//   more than 20 s of CPU time (120 s under AddressSanitizer), or 1 GiB of memory (4 GiB); no end within 2 min
//   a file made, changed or removed where the case does not allow it
//   control characters, marks of writing direction, or bytes that are not UTF-8 on standard output or error
//   on standard error more than 20 kB, or a report of a sanitizer
std::string TryCase(const HostileCase& one);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_TRY_CASE_H_

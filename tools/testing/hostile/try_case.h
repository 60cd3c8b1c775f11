// Trying a hostile case with the program.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_TRY_CASE_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_TRY_CASE_H_

#include <string>

#include "tools/testing/hostile/hostile_case.h"

namespace openset {

// Makes a ground, changes it, and runs `openset COMMAND` in it, without standard input, as somebody to whom modes
// apply. Returns what is wrong with the answer, in a line or more; "" if nothing is. Wrong is, beside what the case
// says:
//   an end by a signal, or by another exit code than 0, 1 and 2; without a word on standard error if it is not 0
//   more than 20 s of the CPU, or 1 GiB of memory (4 GiB under sanitizers); waiting for ever (2 min)
//   a file made, changed or removed where the case does not allow it
//   control characters, marks of writing direction, or bytes that are not UTF-8 on standard output or error
//   on standard error more than 20 kB, or a report of a sanitizer
std::string TryCase(const HostileCase& one);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_TRY_CASE_H_

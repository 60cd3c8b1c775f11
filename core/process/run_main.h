// The outermost part of a program: turns uncaught exceptions into a one-line message and exit code 1.
#ifndef OPENSET_CORE_PROCESS_RUN_MAIN_H_
#define OPENSET_CORE_PROCESS_RUN_MAIN_H_

#include <functional>

namespace openset {

// Calls `run` and returns its exit code. If `run` or one of its threads throws, the process prints "NAME: out of
// memory" (or another reason) to standard error and exits with 1; if a thread threw, without running destructors.
// `name` is the program's and must outlive the process.
int RunMain(const char* name, const std::function<int()>& run);

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_RUN_MAIN_H_

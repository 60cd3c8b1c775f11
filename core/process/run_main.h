// The outermost part of a program: what no code below has caught ends in one line and exit code 1.
#ifndef OPENSET_CORE_PROCESS_RUN_MAIN_H_
#define OPENSET_CORE_PROCESS_RUN_MAIN_H_

#include <functional>

namespace openset {

// Calls `run` and returns its exit code. Where it throws, or a thread of its does, the process says "NAME: out of
// memory" (or what else it was) on standard error and its exit code is 1; destructors run in the first case only.
// `name`: the program's, which must outlive the process.
int RunMain(const char* name, const std::function<int()>& run);

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_RUN_MAIN_H_

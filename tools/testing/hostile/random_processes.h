// Random hostile cases of the files and messages of processes.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_PROCESSES_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_PROCESSES_H_

#include <vector>

#include "core/random.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {

// Returns one of the values, each with the same probability. Precondition: `values` is not empty.
template <typename T>
const T& OneOf(const std::vector<T>& values, RandomStream* random) {
  return values[random->Below(values.size())];
}

// Returns a case with changed bytes or fields in a claim and its process's state, a log, an archive, a download, an
// environment variable, or a worker's messages.
HostileCase RandomProcessCase(RandomStream* random);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_PROCESSES_H_

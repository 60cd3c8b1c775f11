// Hostile cases of what processes leave and say to each other, drawn.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_PROCESSES_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_PROCESSES_H_

#include <vector>

#include "core/random.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {

// A value, each equally likely. Precondition: there is one.
template <typename T>
const T& OneOf(const std::vector<T>& values, RandomStream* random) {
  return values[random->Below(values.size())];
}

// A claim with what its process says of itself, a log, an archive, a download, an environment variable, or a worker's
// messages, with changed bytes or fields.
HostileCase RandomProcessCase(RandomStream* random);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_PROCESSES_H_

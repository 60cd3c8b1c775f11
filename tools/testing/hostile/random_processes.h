// Hostile cases of what processes leave and say to each other, drawn.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_PROCESSES_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_PROCESSES_H_

#include "core/random.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {

// One of: a claim and its process, a log, an archive, a download, an environment variable, the messages of a worker;
// changed in bytes or fields.
HostileCase RandomProcessCase(RandomStream* random);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_RANDOM_PROCESSES_H_

// The memory of actions, over all kinds (ActionMemory).
#ifndef OPENSET_EXPERIMENTS_ACTION_MEMORY_LIMITS_H_
#define OPENSET_EXPERIMENTS_ACTION_MEMORY_LIMITS_H_

#include <cstdint>

#include "experiments/action/action_memory.pb.h"

namespace openset {

// Whether the memory of any kind is set.
bool IsAnySet(const ActionMemory& memory);

// Sets the memory of the kinds without one to `megabytes`.
void FillMemory(int64_t megabytes, ActionMemory* memory);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ACTION_MEMORY_LIMITS_H_

// How much memory is left.
#ifndef OPENSET_CORE_PROCESS_FREE_MEMORY_H_
#define OPENSET_CORE_PROCESS_FREE_MEMORY_H_

#include <cstdint>

namespace openset {

// The bytes that can be allocated without swapping, by the kernel's estimate, or what is left of the limit of this
// process's control group if that is less. 2^62 if the kernel doesn't say.
int64_t FreeMemoryBytes();

// The resident memory of this process, in bytes; 0 if the kernel doesn't say.
int64_t UsedMemoryBytes();

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_FREE_MEMORY_H_

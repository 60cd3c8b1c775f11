// Settings of the process's heap.
#ifndef OPENSET_CORE_PROCESS_HEAP_H_
#define OPENSET_CORE_PROCESS_HEAP_H_

#include <malloc.h>

namespace openset {

// Freed memory stays with the process. By default malloc gives the activations of a training, tens of megabytes each,
// back to the kernel and takes new pages, which the kernel zeroes, in the next step.
inline void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, -1);
}

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_HEAP_H_

// Settings of the process's heap.
#ifndef OPENSET_CORE_PROCESS_HEAP_H_
#define OPENSET_CORE_PROCESS_HEAP_H_

#include <malloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace openset {

// Keeps freed memory in the process. By default, malloc returns the activations of a training, tens of megabytes each,
// to the kernel and gets new pages, which the kernel zeroes, in the next step.
inline void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, -1);
}

// Asks the system for huge pages for the next `bytes` of the heap, and keeps freed memory in the process. For programs
// that pass over large arrays a few times: otherwise, a third of their time goes to page faults. Like all memory, the
// pages are only used when they are written to.
inline void TakeHugePages(size_t bytes) {
  constexpr uintptr_t kHugePage = uintptr_t{1} << 21;
  KeepFreedMemory();
  void* const all = std::malloc(bytes);
  if (all == nullptr) return;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(all) + kHugePage - 1) & ~(kHugePage - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(all) + bytes) & ~(kHugePage - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  std::free(all);  // the pages stay in the heap
}

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_HEAP_H_

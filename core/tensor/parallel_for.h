// Loops in LibTorch's threads. at::parallel_for() runs in one thread in files that are compiled without OpenMP, as ours
// are.
#ifndef OPENSET_CORE_TENSOR_PARALLEL_FOR_H_
#define OPENSET_CORE_TENSOR_PARALLEL_FOR_H_

#include <cstdint>
#include <functional>

namespace openset {

// Calls work(begin, end) for ranges that together are 0 .. count - 1, one in each of the threads that LibTorch's
// operations have in this thread (at::get_num_threads()), and returns when all are done. Within such a call it runs in
// the calling thread. `work` is called by several threads at a time and must not throw. What it writes for an index
// must depend only on the index, so that no bit depends on the number of threads.
void ParallelFor(int64_t count, const std::function<void(int64_t begin, int64_t end)>& work);

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_PARALLEL_FOR_H_

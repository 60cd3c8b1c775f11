// Independent pieces of work in several threads.
#ifndef OPENSET_CORE_IN_PARALLEL_H_
#define OPENSET_CORE_IN_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace openset {

// How many threads such work takes: as many as there are CPUs that this thread may run on (its affinity), or
// LimitThreads() where that is less.
int NumThreads();

// For this process, from now on. Precondition: at least 1.
void LimitThreads(int threads);

// Calls work(0), ..., work(count - 1), each once, in at most NumThreads() threads, of which the caller's is one, and
// returns when all are done. `work` is called from several threads at once, and must not throw. What it writes for a
// piece must depend on that piece alone: then no bit depends on the number of threads.
void InParallel(int64_t count, const std::function<void(int64_t)>& work);

// The same for pieces too small to be handed out one by one: work(begin, end) for ranges of 0 .. count - 1, of `size`
// each but the last.
void InParallelRanges(int64_t count, int64_t size, const std::function<void(int64_t begin, int64_t end)>& work);

// InParallel() for work that waits for a disk more than it computes: in up to 16 threads, however few CPUs there are,
// so that a disk that serves many at once has something to do.
void InParallelWaiting(int64_t count, const std::function<void(int64_t)>& work);
void InParallelWaitingRanges(int64_t count, int64_t size, const std::function<void(int64_t begin, int64_t end)>& work);

}  // namespace openset

#endif  // OPENSET_CORE_IN_PARALLEL_H_

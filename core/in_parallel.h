// Runs independent pieces of work in several threads.
#ifndef OPENSET_CORE_IN_PARALLEL_H_
#define OPENSET_CORE_IN_PARALLEL_H_

#include <cstdint>
#include <functional>
#include <thread>

namespace openset {

// The number of threads: the number of CPUs that this thread may run on (its affinity), but at most LimitThreads().
int NumThreads();

// Limits the threads of this process from now on; running InParallel() and InParallelRanges() start more if the limit
// rises. Precondition: at least 1.
void LimitThreads(int threads);

// Calls work(0), ..., work(count - 1), each once, in at most NumThreads() threads including the caller's, and returns
// when all are done. If the system gives fewer threads (a limit on processes or memory), it uses these; the caller's is
// enough. `work` is called by several threads at a time. If a call throws, no further piece is begun, and when all
// threads have ended, the first exception is thrown again in the caller's thread. What `work` writes for a piece must
// depend only on that piece, so that no bit depends on the number of threads.
void InParallel(int64_t count, const std::function<void(int64_t)>& work);

// The same for small pieces: calls work(begin, end) for ranges of 0 .. count - 1, each of `size` except the last.
void InParallelRanges(int64_t count, int64_t size, const std::function<void(int64_t begin, int64_t end)>& work);

// InParallel() for work that mostly waits for a disk: uses up to 16 threads, whatever the number of CPUs, because many
// disks serve several requests at a time.
void InParallelWaiting(int64_t count, const std::function<void(int64_t)>& work);
void InParallelWaitingRanges(int64_t count, int64_t size, const std::function<void(int64_t begin, int64_t end)>& work);

// Calls run() in each of `threads` threads including the caller's, or in fewer if the system gives no more, and returns
// when all calls have returned. The calls share the work, so that one of them could do all of it. The first exception
// is thrown again in the caller's thread.
void InThreads(int threads, const std::function<void()>& run);

// Starts a thread that calls run(), which must not throw. If the system gives none, the result is not joinable, and the
// caller must do without.
std::thread TryToStartThread(std::function<void()> run);

}  // namespace openset

#endif  // OPENSET_CORE_IN_PARALLEL_H_

// Independent pieces of work in several threads.
#ifndef OPENSET_DATA_READERS_IN_PARALLEL_H_
#define OPENSET_DATA_READERS_IN_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace openset {

// Calls work(0), ..., work(count - 1), each once, in as many threads as there are processors, and returns when all are
// done. `work` is called from several threads at once, and must not throw.
void InParallel(int64_t count, const std::function<void(int64_t)>& work);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IN_PARALLEL_H_

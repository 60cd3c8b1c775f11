#include "core/in_parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <vector>

namespace openset {
namespace {

constexpr int64_t kWaiting = 16;

std::atomic<int> thread_limit{std::numeric_limits<int>::max()};

int NumCpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  // The set is too small for machines of more than 1024 CPUs.
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return static_cast<int>(std::thread::hardware_concurrency());
  return CPU_COUNT(&allowed);
}

// NumThreads(). Asks the system only after LimitThreads().
class LimitedThreads {
 public:
  int operator()() {
    if (const int limit = thread_limit; limit != limit_) {
      limit_ = limit;
      threads_ = NumThreads();
    }
    return threads_;
  }

 private:
  int limit_ = 0;
  int threads_ = 1;
};

// Uses at most threads() threads; calls it again before each piece of the calling thread.
template <typename Threads>
void RunIn(Threads threads, int64_t count, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next{0};
  std::vector<std::thread> others;
  const auto run = [&] {
    for (int64_t i = next++; i < count; i = next++) work(i);
  };
  for (int64_t i = next++; i < count; i = next++) {
    const int64_t others_wanted = std::min<int64_t>(threads() - 1, count - next);
    while (static_cast<int64_t>(others.size()) < others_wanted) others.emplace_back(run);
    work(i);
  }
  for (std::thread& thread : others) thread.join();
}

template <typename Threads>
void RunRangesIn(Threads threads, int64_t count, int64_t size, const std::function<void(int64_t, int64_t)>& work) {
  RunIn(threads, (count + size - 1) / size, [&](int64_t i) { work(i * size, std::min(count, (i + 1) * size)); });
}

}  // namespace

int NumThreads() { return std::max(1, std::min(NumCpus(), thread_limit.load())); }

void LimitThreads(int threads) { thread_limit = threads; }

void InParallel(int64_t count, const std::function<void(int64_t)>& work) { RunIn(LimitedThreads(), count, work); }

void InParallelWaiting(int64_t count, const std::function<void(int64_t)>& work) {
  RunIn([] { return kWaiting; }, count, work);
}

void InParallelRanges(int64_t count, int64_t size, const std::function<void(int64_t begin, int64_t end)>& work) {
  RunRangesIn(LimitedThreads(), count, size, work);
}

void InParallelWaitingRanges(int64_t count, int64_t size, const std::function<void(int64_t begin, int64_t end)>& work) {
  RunRangesIn([] { return kWaiting; }, count, size, work);
}

}  // namespace openset

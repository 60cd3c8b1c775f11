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

// In at most so many threads.
void RunIn(int64_t threads, int64_t count, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next{0};
  const auto run = [&] {
    for (int64_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (int64_t t = 1; t < std::min(threads, count); ++t) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
}

void RunRangesIn(int64_t threads, int64_t count, int64_t size, const std::function<void(int64_t, int64_t)>& work) {
  RunIn(threads, (count + size - 1) / size, [&](int64_t i) { work(i * size, std::min(count, (i + 1) * size)); });
}

}  // namespace

int NumThreads() { return std::max(1, std::min(NumCpus(), thread_limit.load())); }

void LimitThreads(int threads) { thread_limit = threads; }

void InParallel(int64_t count, const std::function<void(int64_t)>& work) {
  RunIn(count > 1 ? NumThreads() : 1, count, work);
}

void InParallelWaiting(int64_t count, const std::function<void(int64_t)>& work) { RunIn(kWaiting, count, work); }

void InParallelRanges(int64_t count, int64_t size, const std::function<void(int64_t begin, int64_t end)>& work) {
  RunRangesIn(count > size ? NumThreads() : 1, count, size, work);
}

void InParallelWaitingRanges(int64_t count, int64_t size, const std::function<void(int64_t begin, int64_t end)>& work) {
  RunRangesIn(kWaiting, count, size, work);
}

}  // namespace openset

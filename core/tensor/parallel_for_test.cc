#include "core/tensor/parallel_for.h"

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/tensor/torch_runtime.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ParallelFor, CallsEachIndexOnceForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 8}) {
    at::set_num_threads(threads);
    for (const int64_t count : {0, 1, 2, 7, 8, 100}) {
      std::vector<std::atomic<int>> calls(count);
      ParallelFor(count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++calls[i];
      });
      for (const std::atomic<int>& of_index : calls) EXPECT_EQ(of_index, 1) << threads << " threads, " << count;
    }
  }
}

TEST(ParallelFor, UsesTheThreadsOfLibTorchAndOneWithinACall) {
  at::set_num_threads(3);
  std::mutex mutex;
  std::set<std::thread::id> outer;
  ParallelFor(3, [&](int64_t, int64_t) {
    const std::thread::id self = std::this_thread::get_id();
    ParallelFor(5, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_EQ(end - begin, 5);
    });
    const std::lock_guard<std::mutex> lock(mutex);
    outer.insert(self);
  });
  EXPECT_EQ(outer.size(), 3);
}

}  // namespace
}  // namespace openset

#include "core/in_parallel.h"

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <new>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "core/testing/no_threads.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

class InParallelTest : public ::testing::Test {
 protected:
  ~InParallelTest() override { LimitThreads(std::numeric_limits<int>::max()); }
};

TEST_F(InParallelTest, DoesEachPieceOnce) {
  for (const int limit : {1, 3, 1000}) {
    LimitThreads(limit);
    for (const int64_t count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> calls(count);
      InParallel(count, [&](int64_t i) { ++calls[i]; });
      for (const auto& number : calls) EXPECT_EQ(number, 1);
      InParallelWaiting(count, [&](int64_t i) { ++calls[i]; });
      for (const auto& number : calls) EXPECT_EQ(number, 2);
    }
  }
}

TEST_F(InParallelTest, CutsRanges) {
  std::mutex mutex;
  std::set<std::pair<int64_t, int64_t>> ranges;
  const auto note = [&](int64_t begin, int64_t end) {
    const std::lock_guard<std::mutex> lock(mutex);
    EXPECT_TRUE(ranges.insert({begin, end}).second);
  };
  for (const auto cut : {InParallelRanges, InParallelWaitingRanges}) {
    cut(10, 4, note);
    EXPECT_THAT(ranges, ::testing::ElementsAre(std::make_pair(0, 4), std::make_pair(4, 8), std::make_pair(8, 10)));
    ranges.clear();
  }
  InParallelRanges(8, 4, note);
  EXPECT_THAT(ranges, ::testing::ElementsAre(std::make_pair(0, 4), std::make_pair(4, 8)));
  InParallelRanges(0, 4, [](int64_t, int64_t) { ADD_FAILURE(); });
}

TEST_F(InParallelTest, RespectsTheThreadLimit) {
  LimitThreads(1);
  EXPECT_EQ(NumThreads(), 1);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  InParallel(100, [&](int64_t) {
    const std::lock_guard<std::mutex> lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_THAT(threads, ::testing::ElementsAre(std::this_thread::get_id()));
}

TEST_F(InParallelTest, TakesMoreThreadsWhileItRuns) {
  LimitThreads(1);
  const auto calling = std::this_thread::get_id();
  std::mutex mutex;
  std::condition_variable changed;
  bool was_elsewhere = false;
  InParallel(1000, [&](int64_t i) {
    std::unique_lock<std::mutex> lock(mutex);
    if (std::this_thread::get_id() != calling) {
      EXPECT_GT(i, 10);
      was_elsewhere = true;
      changed.notify_all();
    }
    if (i == 10) LimitThreads(2);
    // On one CPU there is no second thread.
    if (i == 11 && NumThreads() > 1) changed.wait(lock, [&] { return was_elsewhere; });
  });
  EXPECT_EQ(was_elsewhere, NumThreads() > 1);
}

// Each piece waits for the others: 16 start before any of them ends.
TEST_F(InParallelTest, WaitsForManyAtOnce) {
  LimitThreads(1);
  std::mutex mutex;
  std::condition_variable changed;
  int begun = 0;
  InParallelWaiting(16, [&](int64_t) {
    std::unique_lock<std::mutex> lock(mutex);
    ++begun;
    changed.notify_all();
    changed.wait(lock, [&] { return begun == 16; });
  });
  EXPECT_EQ(begun, 16);
}

TEST_F(InParallelTest, TheCallerDoesAllIfThereAreNoThreads) {
  const NoThreads none;
  EXPECT_THROW(std::thread([] {}), std::system_error);
  EXPECT_FALSE(TryToStartThread([] {}).joinable());
  const auto calling = std::this_thread::get_id();
  for (const auto run : {InParallel, InParallelWaiting}) {
    std::vector<int> calls(100);
    run(100, [&](int64_t i) {
      EXPECT_EQ(std::this_thread::get_id(), calling);
      ++calls[i];
    });
    EXPECT_THAT(calls, ::testing::Each(1));
  }
  int runs = 0;
  InThreads(8, [&] { ++runs; });
  EXPECT_EQ(runs, 1);
}

TEST_F(InParallelTest, RunsInThreads) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  InThreads(5, [&] {
    const std::lock_guard<std::mutex> lock(mutex);
    EXPECT_TRUE(threads.insert(std::this_thread::get_id()).second);
  });
  EXPECT_EQ(threads.size(), 5);
  EXPECT_THROW(InThreads(5, [] { throw std::bad_alloc(); }), std::bad_alloc);
}

// Whether the caller's thread throws or a helper; all threads have ended when the exception arrives.
TEST_F(InParallelTest, ExceptionsReachTheCallerAfterAllHaveEnded) {
  const auto calling = std::this_thread::get_id();
  for (const bool in_caller : {true, false}) {
    std::atomic<int> begun{0}, ended{0};
    std::mutex mutex;
    std::condition_variable changed;
    const auto run = [&] {
      InParallelWaiting(1000, [&](int64_t) {
        {
          std::unique_lock<std::mutex> lock(mutex);
          ++begun;
          changed.notify_all();
          changed.wait(lock, [&] { return begun >= 16; });
        }
        if (in_caller == (std::this_thread::get_id() == calling)) throw std::bad_alloc();
        ++ended;
      });
    };
    EXPECT_THROW(run(), std::bad_alloc);
    const int seen = ended;
    EXPECT_LT(seen, 1000);
    EXPECT_EQ(ended, seen);
  }
}

TEST_F(InParallelTest, RespectsTheCpuAffinity) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(NumThreads(), CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(NumThreads(), 1);
  EXPECT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace openset

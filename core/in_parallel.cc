#include "core/in_parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>
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

// Threads that help the caller's. They end before the object does.
class Helpers {
 public:
  // Each calls `run`, which must outlive the object.
  explicit Helpers(const std::function<void()>& run) : run_(run) {}
  ~Helpers() { Join(); }

  // Starts helpers until there are this many, or the system gives no more.
  void StartUpTo(int64_t wanted) {
    while (may_start_ && static_cast<int64_t>(threads_.size()) < wanted) {
      try {
        threads_.reserve(static_cast<size_t>(wanted));  // so that no thread is lost afterwards
        may_start_ = false;
        threads_.push_back(TryToStartThread([this] { Try(run_); }));
        may_start_ = threads_.back().joinable();
        if (!may_start_) threads_.pop_back();
      } catch (const std::bad_alloc&) {
        may_start_ = false;
      }
    }
  }

  // Calls `work` and keeps what it throws.
  void Try(const std::function<void()>& work) noexcept {
    try {
      work();
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (thrown_ == nullptr) thrown_ = std::current_exception();
    }
  }

  // Waits for the helpers, and throws the first exception again.
  void Finish() {
    Join();
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  }

 private:
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const std::function<void()>& run_;
  bool may_start_ = true;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

// Uses at most threads() threads; calls it again before each piece of the calling thread.
template <typename Threads>
void RunIn(Threads threads, int64_t count, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next{0};
  const auto do_piece = [&](int64_t i) {
    try {
      work(i);
    } catch (...) {
      next = count;  // the others begin no more pieces
      throw;
    }
  };
  const std::function<void()> run = [&] {
    for (int64_t i = next++; i < count; i = next++) do_piece(i);
  };
  Helpers helpers(run);
  helpers.Try([&] {
    for (int64_t i = next++; i < count; i = next++) {
      helpers.StartUpTo(std::min<int64_t>(threads() - 1, count - next));
      do_piece(i);
    }
  });
  helpers.Finish();
}

template <typename Threads>
void RunRangesIn(Threads threads, int64_t count, int64_t size, const std::function<void(int64_t, int64_t)>& work) {
  RunIn(threads, (count + size - 1) / size, [&](int64_t i) { work(i * size, std::min(count, (i + 1) * size)); });
}

}  // namespace

std::thread TryToStartThread(std::function<void()> run) {
  try {
    return std::thread(std::move(run));
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  return {};
}

int NumThreads() { return std::max(1, std::min(NumCpus(), thread_limit.load())); }

void LimitThreads(int threads) { thread_limit = threads; }

void InThreads(int threads, const std::function<void()>& run) {
  Helpers helpers(run);
  helpers.StartUpTo(threads - 1);
  helpers.Try(run);
  helpers.Finish();
}

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

// Lets an action that computes in InParallel() (core/in_parallel.h) use the CPUs that fall free while it runs.
#ifndef OPENSET_EXPERIMENTS_WORKER_MORE_THREADS_H_
#define OPENSET_EXPERIMENTS_WORKER_MORE_THREADS_H_

#include <thread>

#include "absl/synchronization/notification.h"
#include "experiments/worker/worker.proto.h"
#include "experiments/worker/worker_loop.h"

namespace openset {

// While an object of this class exists, a thread keeps the limit of LimitThreads() at the request's `cpu_slots`, also
// after messages that raise them. It receives these messages by calling `stop_asked`, which nothing else may call
// meanwhile. Without it (the system gives no thread), the limit stays as it is at the start.
class MoreThreads {
 public:
  // Both arguments must outlive the object.
  MoreThreads(const WorkRequest& request, const StopAsked& stop_asked);
  ~MoreThreads();
  MoreThreads(const MoreThreads&) = delete;
  MoreThreads& operator=(const MoreThreads&) = delete;

 private:
  absl::Notification ended_;
  std::thread thread_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_MORE_THREADS_H_

// Lets an action that computes in InParallel() (core/in_parallel.h) use the CPUs that fall free while it runs.
#ifndef OPENSET_EXPERIMENTS_WORKER_MORE_THREADS_H_
#define OPENSET_EXPERIMENTS_WORKER_MORE_THREADS_H_

#include <thread>

#include "absl/synchronization/notification.h"
#include "experiments/worker/worker.proto.h"
#include "experiments/worker/worker_loop.h"

namespace openset {

// Calls LimitThreads() with the request's `cpu_slots`, when made and after each message that raises them, in a thread
// of its own. Meanwhile nothing else may call `stop_asked`, which receives the messages.
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

// The main loop of a worker process: executes requests from the engine, one at a time.
#ifndef OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_
#define OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_

#include <exception>
#include <functional>
#include <thread>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// Reports the progress of an action. Cheap to call often: messages are sent at most every 0.2 seconds.
using ReportProgress = std::function<void(const WorkProgress&)>;

// Receives messages (AboutRunningAction). A message about more CPUs raises `cpu_slots` of the request. Returns whether
// a message has asked the action to save its state and end; once true, it stays true. Cheap to call often: it checks
// for messages at most every 0.05 seconds.
using Poll = std::function<bool()>;

using Execute = std::function<absl::Status(const WorkRequest&, const ReportProgress&, const Poll&)>;

// The functions that execute requests, by the kind of request. Null: this worker doesn't do such requests.
struct WorkerActions {
  Execute train, infer, evaluate, probe;
};

// Executes requests from the engine that started this process (Subprocess::kChannel) until the engine closes the
// channel. Returns the process's exit code. Requests whose function is null end with kInternal. If an action
// throws an exception, it ends with kResourceExhausted if memory ran out, otherwise with the code of `status_of`, by
// default kInternal. After an exception with kResourceExhausted or kUnavailable (a device failed), it sets
// WorkOutcome.is_last and returns 0. It ignores signals that ask to stop (SIGINT, SIGTERM, SIGHUP, SIGUSR1), which a
// cluster may send to all processes of a job; the engine handles them.
int ServeWork(const WorkerActions& actions,
              const std::function<absl::Status(const std::exception&)>& status_of = nullptr);

// ---- Lets an action that computes in InParallel() (core/in_parallel.h) use the CPUs that fall free while it runs.

// While an object of this class exists, a thread keeps the limit of LimitThreads() at the request's `cpu_slots`, also
// after messages that raise them. It receives these messages by calling `poll`, which nothing else may call
// meanwhile. If the system gives no thread, the limit stays as it was at the start.
class ThreadAdjuster {
 public:
  // Both arguments must outlive the object.
  ThreadAdjuster(const WorkRequest& request, const Poll& poll);
  ~ThreadAdjuster();
  ThreadAdjuster(const ThreadAdjuster&) = delete;
  ThreadAdjuster& operator=(const ThreadAdjuster&) = delete;

 private:
  absl::Notification ended_;
  std::thread thread_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_

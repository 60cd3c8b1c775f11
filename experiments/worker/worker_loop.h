// The side of a worker process: takes requests from the engine, one at a time.
#ifndef OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_
#define OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_

#include <exception>
#include <functional>
#include <map>

#include "absl/status/status.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// Reports how far an action is. Cheap to call often: messages are sent at most every 0.2 seconds.
using ReportProgress = std::function<void(const WorkProgress&)>;

// Whether the action should save its state and end (WorkRequest.stop). Once true, it stays true. Also receives word of
// more CPUs and sets the request's `cpu_slots` to it. Cheap to call often: it looks at most every 0.05 seconds.
using StopAsked = std::function<bool()>;

using Execute = std::function<absl::Status(const WorkRequest&, const ReportProgress&, const StopAsked&)>;

// What a worker can do, by the kind of request.
using WorkerActions = std::map<WorkRequest::ActionCase, Execute>;

// A worker process: executes requests from the engine that started it (Subprocess::kChannel) until it closes the
// channel. Returns the process's exit code. What is not among `actions` ends with kInternal. So does an exception:
// kResourceExhausted for lack of memory, else what `status_of` says, by default kInternal. After one that ends with
// kResourceExhausted or kUnavailable (a device that failed) it says so (WorkOutcome.is_last) and returns 0. Signals
// that ask to stop (SIGINT, SIGTERM, SIGHUP, SIGUSR1), which a cluster may send to all processes of a job, are the
// engine's to take.
int ServeWork(const WorkerActions& actions,
              const std::function<absl::Status(const std::exception&)>& status_of = nullptr);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_

// The main loop of a worker process: executes requests from the engine, one at a time.
#ifndef OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_
#define OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_

#include <exception>
#include <functional>
#include <map>

#include "absl/status/status.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// Reports the progress of an action. Cheap to call often: messages are sent at most every 0.2 seconds.
using ReportProgress = std::function<void(const WorkProgress&)>;

// Whether the action should save its state and end (AboutRunningAction.stop). Once true, it stays true. Also receives
// messages about more CPUs and sets the request's `cpu_slots` accordingly. Cheap to call often: it checks for messages
// at most every 0.05 seconds.
using StopAsked = std::function<bool()>;

using Execute = std::function<absl::Status(const WorkRequest&, const ReportProgress&, const StopAsked&)>;

// The functions that execute requests, by the kind of request.
using WorkerActions = std::map<WorkRequest::ActionCase, Execute>;

// Executes requests from the engine that started this process (Subprocess::kChannel) until the engine closes the
// channel. Returns the process's exit code. Requests of a kind that `actions` lacks end with kInternal. If an action
// throws an exception, it ends with kResourceExhausted if memory ran out, otherwise with the code of `status_of`, by
// default kInternal. After an exception with kResourceExhausted or kUnavailable (a device failed), it sets
// WorkOutcome.is_last and returns 0. It ignores signals that ask to stop (SIGINT, SIGTERM, SIGHUP, SIGUSR1), which a
// cluster may send to all processes of a job; the engine handles them.
int ServeWork(const WorkerActions& actions,
              const std::function<absl::Status(const std::exception&)>& status_of = nullptr);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_

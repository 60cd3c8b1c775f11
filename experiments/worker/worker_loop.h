// The side of a worker process: takes requests from the engine, one at a time.
#ifndef OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_
#define OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_

#include <functional>

#include "absl/status/status.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// Reports how far an action is. Cheap to call often: messages are sent at most every 0.2 seconds.
using ReportProgress = std::function<void(const WorkProgress&)>;

// Whether the action is to save what it has and end (WorkRequest.stop). Cheap to call often: the channel is looked at
// at most every 0.05 seconds.
using StopAsked = std::function<bool()>;

using Execute = std::function<absl::Status(const WorkRequest&, const ReportProgress&, const StopAsked&)>;

// Executes requests from the channel `fd` until it closes. Returns the process's exit code. Signals that ask to stop
// (SIGINT, SIGTERM, SIGHUP, SIGUSR1), which a cluster may send to all processes of a job, are the engine's to take.
int ServeWork(int fd, const Execute& execute);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_

// The side of a worker process: takes requests from the engine, one at a time.
#ifndef OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_
#define OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_

#include <functional>

#include "absl/status/status.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// Reports how far an action is. Cheap to call often: messages are sent at most every 0.2 seconds.
using ReportProgress = std::function<void(const WorkProgress&)>;

using Execute = std::function<absl::Status(const WorkRequest&, const ReportProgress&)>;

// Executes requests from the channel `fd` until it closes. Returns the process's exit code.
int ServeWork(int fd, const Execute& execute);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_WORKER_LOOP_H_

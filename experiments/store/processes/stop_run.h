// Asks a run on this machine to stop, like Ctrl-C.
#ifndef OPENSET_EXPERIMENTS_STORE_PROCESSES_STOP_RUN_H_
#define OPENSET_EXPERIMENTS_STORE_PROCESSES_STOP_RUN_H_

#include "absl/status/status.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/store/store.h"

namespace openset {

// Sends SIGINT to the process of `run`, one of RunsOf(store). Its trainings save their state, and it exits with 130.
// The run's file is untrusted: this user must own it, the process must match its host, boot, process id and start, and
// it must be an openset that has Leases (leases.h) on this store. Errors: kFailedPrecondition for a process on another
// machine, and for one that is not such an openset; kPermissionDenied for another user's; kNotFound for a process that
// has ended. The messages are meant to follow the run's name in a line.
absl::Status AskToStop(const Store& store, const RunState& run);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_PROCESSES_STOP_RUN_H_

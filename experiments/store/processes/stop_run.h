// Asks a run of this machine to stop, as Ctrl-C does.
#ifndef OPENSET_EXPERIMENTS_STORE_PROCESSES_STOP_RUN_H_
#define OPENSET_EXPERIMENTS_STORE_PROCESSES_STOP_RUN_H_

#include "absl/status/status.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/store/store.h"

namespace openset {

// Sends SIGINT to the process of `run`, one of RunsOf(store): its trainings save their state, and it ends with 130.
// Anybody who may write into the store may have made the run's file, so this user must own it, and the process must be
// the one that it names, by host, boot, process id and start. Errors: kFailedPrecondition for a process of another
// machine, kPermissionDenied for another user's, kNotFound for one that has ended. Their messages are what follows the
// run's name in a line.
absl::Status AskToStop(const Store& store, const RunState& run);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_PROCESSES_STOP_RUN_H_

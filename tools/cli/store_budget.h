// The size that a deployment allows its store (DeploySpec.store_gb).
#ifndef OPENSET_TOOLS_CLI_STORE_BUDGET_H_
#define OPENSET_TOOLS_CLI_STORE_BUDGET_H_

#include "absl/status/status.h"
#include "experiments/store/store.h"

namespace openset {

// At the end of a run: removes what the store needs least until it is small enough, and says what went, and what of it
// can't be kept. Nothing is done where the deployment sets no size, in a job of Slurm, and while other runs are on the
// store. Errors: those of the flags, of FindGarbage() and RemoveGarbage() (experiments/store/collect_garbage.h).
absl::Status KeepStoreSize(const Store& store);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_STORE_BUDGET_H_

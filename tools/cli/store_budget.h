// The size that a deployment allows its store (DeploySpec.store_gb).
#ifndef OPENSET_TOOLS_CLI_STORE_BUDGET_H_
#define OPENSET_TOOLS_CLI_STORE_BUDGET_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/study/study.h"

namespace openset {

// While a study runs here: removes what the store needs least until it is small enough. What actions to come need
// stays, and what others made within the last hour. Returns a line that says what went, "" if nothing. Nothing is done
// where the deployment sets no size, in a job of Slurm, while other runs are on the store, and while searches are to
// choose. Errors: those of the flags, of FindGarbage() and RemoveGarbage() (experiments/store/collect_garbage.h).
absl::StatusOr<std::string> KeepStoreSizeDuring(const Study& study);

// The same at its end; also says what can't be kept.
absl::Status KeepStoreSize(const Study& study);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_STORE_BUDGET_H_

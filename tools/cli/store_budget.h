// Keeps a store below the size that its deployment allows (DeploySpec.store_gb).
#ifndef OPENSET_TOOLS_CLI_STORE_BUDGET_H_
#define OPENSET_TOOLS_CLI_STORE_BUDGET_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/study/study.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// DeploySpec.store_gb in bytes; nothing if the deployment sets no size, or in a Slurm job.
std::optional<int64_t> StoreBudget(const RunConfig& config);

// For use while a study runs here. Removes the files that the store needs least until it is small enough, except files
// that later actions need and files that others made within the last hour. Returns a line about what it removed, "" if
// nothing. Does nothing without a budget, while other runs use the store, or before a search has chosen. Errors:
// kDataLoss for a corrupt record, whose inputs are unknown; kUnavailable if what decides can't be read now, or a file
// can't be removed.
absl::StatusOr<std::string> KeepStoreSizeDuring(const Study& study, std::optional<int64_t> budget);

// For the end of a run. If its outcome is OK, or kAborted because some actions failed, does the same, and prints what
// it removed, or that the store is still too large. Returns the outcome; if that is OK, the error of cleaning up.
absl::Status KeepStoreSizeAfter(const absl::Status& outcome, const Study& study, const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_STORE_BUDGET_H_

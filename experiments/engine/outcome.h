// The statuses and records of failed attempts and of runs.
#ifndef OPENSET_EXPERIMENTS_ENGINE_OUTCOME_H_
#define OPENSET_EXPERIMENTS_ENGINE_OUTCOME_H_

#include <string>

#include "absl/status/status.h"
#include "experiments/plan/plan.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Returns the record of an attempt at `action` that failed just now, on this machine.
FailureRecord FailureOf(const Plan& plan, const Action& action, const absl::Status& status);

// Returns why an attempt failed. If `where` is not empty, it is appended in brackets.
absl::Status StatusOf(const FailureRecord& failure, const std::string& where = "");

// Returns the status of a run in which `failed` actions failed: OK if it is 0, else kAborted.
absl::Status SomeFailed(int failed, const std::string& rest = "");

// Returns the status (kUnavailable) of a run that lost its last GPU, with the reason `why`.
absl::Status NoGpuIsLeft(const absl::Status& why);

// Returns the status (kUnavailable) of a run whose store can't be written, with the reason `why`.
absl::Status StoreIsGone(const Store& store, const absl::Status& why);

// Returns the status (kFailedPrecondition) of a run whose process has no GPU although `action` needs one.
absl::Status NeedsGpu(const Plan& plan, const Action& action);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_OUTCOME_H_

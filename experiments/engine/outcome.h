// How attempts at actions and whole runs end.
#ifndef OPENSET_EXPERIMENTS_ENGINE_OUTCOME_H_
#define OPENSET_EXPERIMENTS_ENGINE_OUTCOME_H_

#include <string>

#include "absl/status/status.h"
#include "experiments/plan/plan.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// The record of an attempt at the action that failed now, on this machine.
FailureRecord FailureOf(const Plan& plan, const Action& action, const absl::Status& status);

// Why an attempt failed. `where` is appended in brackets, if it is not "".
absl::Status StatusOf(const FailureRecord& failure, const std::string& where = "");

// What a run ends with in which so many actions failed: OK for none, else kAborted.
absl::Status SomeFailed(int failed, const std::string& rest = "");

// What a run ends with whose last GPU was lost, for this reason: kUnavailable.
absl::Status NoGpuIsLeft(const absl::Status& why);

// What a run ends with whose store can't be written, for this reason: kUnavailable.
absl::Status StoreIsGone(const Store& store, const absl::Status& why);

// What a run ends with whose process has no GPU for an action that runs on one: kFailedPrecondition.
absl::Status NeedsGpu(const Plan& plan, const Action& action);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_OUTCOME_H_

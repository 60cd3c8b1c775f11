// Successive halving: decides which candidates of a search continue, from records alone.
#ifndef OPENSET_EXPERIMENTS_PLAN_HALVING_H_
#define OPENSET_EXPERIMENTS_PLAN_HALVING_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/plan/trial_search.h"
#include "experiments/spec/trial.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/store.h"

namespace openset {

// The number of candidates that continue: the share `keep`, rounded up; at least one.
size_t KeptOf(size_t candidates, double keep);

// The number of candidates that are measured at each rung.
std::vector<size_t> RungSizes(const TrialSearch& search);

// The candidate's trial, stopped at the rung (training.stop_after_epochs). At the last rung, the candidate itself.
Trial AtRung(const TrialSearch& search, size_t candidate, size_t rung);

// The state of a search according to its records.
struct Rungs {
  // For each rung reached so far, the indices of its candidates, ascending.
  std::vector<std::vector<size_t>> reached;
  // Whether all candidates of the last rung have records. There is no further rung then.
  bool complete = false;
  // kFailedPrecondition if the criterion is undefined for all candidates of the last rung that was reached.
  absl::Status undefined;
  // For each candidate, the rungs whose records are complete, and whether it continued.
  SearchLog log;
};

// Precondition: the search has rungs. Errors: those of reading records.
absl::StatusOr<Rungs> ReadRungs(const TrialSearch& search, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_HALVING_H_

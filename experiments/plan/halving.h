// Successive halving: which candidates of a search go on, decided by records alone.
#ifndef OPENSET_EXPERIMENTS_PLAN_HALVING_H_
#define OPENSET_EXPERIMENTS_PLAN_HALVING_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/plan/trial_search.h"
#include "experiments/spec/trial.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/store.h"

namespace openset {

// How many of `candidates` go on: `keep` of them, rounded up; at least one.
size_t KeptOf(size_t candidates, double keep);

// How many are measured at each rung.
std::vector<size_t> RungSizes(const TrialSearch& search);

// A candidate stopped at the rung: its trial with training.stop_after_epochs. The last rung's is the candidate itself.
Trial AtRung(const TrialSearch& search, size_t candidate, size_t rung);

// What the records say so far.
struct Rungs {
  // Of each rung that is reached, the candidates (indices, ascending) that are measured there.
  std::vector<std::vector<size_t>> reached;
  // Whether the last of them is measured whole; then there is no further one.
  bool complete = false;
  // Of each candidate the rungs that are measured whole, and whether it went on.
  SearchLog log;
};

// Precondition: the search has rungs. Errors: kFailedPrecondition if the criterion is undefined for all candidates of a
// rung; those of reading records.
absl::StatusOr<Rungs> ReadRungs(const TrialSearch& search, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_HALVING_H_

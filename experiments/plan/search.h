// Searches: their candidates, successive halving, and the choice among the candidates' records.
#ifndef OPENSET_EXPERIMENTS_PLAN_SEARCH_H_
#define OPENSET_EXPERIMENTS_PLAN_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/spec/trial.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/store.h"

namespace openset {

// ---- The candidates of a search.

// The search for one trial's hyper-parameters.
struct TrialSearch {
  int trial = 0;  // index of the trial
  // One trial for each combination of values, in the order of the grid, with the last axis varying fastest. Trained
  // like the trial, and evaluated by the criterion on validation data. A candidate never uses a test sample.
  std::vector<Trial> candidates;
  // For successive halving: the epochs after which candidates are measured, ascending; the
  // last is the length of the whole training. Empty if all candidates are trained to the end. `keep` is the share that
  // continues.
  std::vector<int> rungs;
  double keep = 0;
  // Why the validation data leave the criterion undefined, whatever the candidates predict; OK if they don't.
  absl::Status undefined;
};

// ---- Successive halving: decides which candidates of a search continue, from records alone.

// The number of candidates that continue: the share `keep`, rounded up; at least one.
size_t CountSurvivors(size_t candidates, double keep);

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

// Corrupt records count as missing. A search without rungs is read as one that measures all candidates once, after
// their whole training; its log has no rungs. Errors: a read failure (IsReadFailure() in experiments/store/store.h) of
// a record; kUnimplemented if a newer openset wrote it.
absl::StatusOr<Rungs> ReadRungs(const TrialSearch& search, const Store& store);

// ---- Choosing hyper-parameters by grid search on validation data.

// The searches of an experiment for its expanded trials, in the order of the trials.
// Errors: kInvalidArgument, "FILE:LINE: path: problem", for: a method that the experiment lacks or that two searches
// name; an axis or value that does not fit the method; a criterion without a direction; no samples kept for validation;
// rungs that do not ascend to the epochs of the method's training; more than `max_candidates` in all. A criterion that
// the validation data leave undefined is in TrialSearch.undefined, so that the results of such a search stay readable.
absl::StatusOr<std::vector<TrialSearch>> ExpandSearches(const Experiment& experiment, const std::vector<Trial>& trials,
                                                        int64_t max_candidates = kMostTrials);

// The trial with the values of the best candidate and the log of the search. Adds kTunedSuffix to the method's name.
// Nothing if a candidate has no record, or a corrupt one. Errors: kFailedPrecondition if the criterion is undefined for
// all candidates; a read failure of a record; kUnimplemented if a newer openset wrote it.
absl::StatusOr<std::optional<Trial>> TunedTrial(const Trial& trial, const TrialSearch& search, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_SEARCH_H_

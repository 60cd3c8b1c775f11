// Choosing hyper-parameters by grid search on validation data.
#ifndef OPENSET_EXPERIMENTS_PLAN_SEARCH_H_
#define OPENSET_EXPERIMENTS_PLAN_SEARCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/plan/trial_search.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/spec/trial.h"
#include "experiments/store/store.h"

namespace openset {

// The searches of an experiment for its expanded trials, in the order of the trials.
// Errors: kInvalidArgument, "FILE:LINE: path: problem", for: a method that the experiment lacks or that two searches
// name; an axis or value that does not fit the method; a criterion without a direction; no samples kept for validation;
// rungs that do not ascend to the epochs of the method's training; more than `max_candidates` in all. A criterion that
// the validation data leave undefined is in TrialSearch.undefined, so that the results of such a search stay readable.
absl::StatusOr<std::vector<TrialSearch>> ExpandSearches(const Experiment& experiment, const std::vector<Trial>& trials,
                                                        int64_t max_candidates = kMostTrials);

// Follows the name of a tuned method.
inline constexpr char kTunedSuffix[] = " (tuned)";

// The trial with the values of the best candidate and the log of the search. Adds kTunedSuffix to the method's name.
// Nothing if a candidate has no record. Errors: kFailedPrecondition if the criterion is undefined for all
// candidates; those of reading records.
absl::StatusOr<std::optional<Trial>> TunedTrial(const Trial& trial, const TrialSearch& search, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_SEARCH_H_

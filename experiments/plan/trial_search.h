// The candidates of a search.
#ifndef OPENSET_EXPERIMENTS_PLAN_TRIAL_SEARCH_H_
#define OPENSET_EXPERIMENTS_PLAN_TRIAL_SEARCH_H_

#include <vector>

#include "absl/status/status.h"
#include "experiments/spec/trial.h"

namespace openset {

// The search for one trial's hyper-parameters.
struct TrialSearch {
  int trial = 0;  // index of the trial
  // One trial for each combination of values, in the order of the grid, with the last axis varying fastest. Trained
  // like the trial, and evaluated by the criterion on validation data. A candidate never uses a test sample.
  std::vector<Trial> candidates;
  // For successive halving (experiments/plan/halving.h): the epochs after which candidates are measured, ascending; the
  // last is the length of the whole training. Empty if all candidates are trained to the end. `keep` is the share that
  // continues.
  std::vector<int> rungs;
  double keep = 0;
  // Why the validation data leave the criterion undefined, whatever the candidates predict; OK if they don't.
  absl::Status undefined;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_TRIAL_SEARCH_H_

// The candidates of a search.
#ifndef OPENSET_EXPERIMENTS_PLAN_TRIAL_SEARCH_H_
#define OPENSET_EXPERIMENTS_PLAN_TRIAL_SEARCH_H_

#include <vector>

#include "experiments/spec/trial.h"

namespace openset {

// The search for one trial's hyper-parameters.
struct TrialSearch {
  int trial = 0;  // index among the trials it was made for
  // The trial's method with each combination of values, trained as the trial is and evaluated by the criterion on
  // validation data. Nothing of a candidate names a test sample. In the order of the grid, the last axis fastest.
  std::vector<Trial> candidates;
  // Of successive halving (experiments/plan/halving.h): the epochs after which candidates are measured, ascending, the
  // last those of the whole training; empty if all are trained to the end. And the share that goes on.
  std::vector<int> rungs;
  double keep = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_TRIAL_SEARCH_H_

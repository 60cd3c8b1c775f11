// Computes the details that a record stores about its test samples in addition to the metrics, for figures and tables.
#ifndef OPENSET_EXPERIMENTS_EVALUATE_DETAILS_H_
#define OPENSET_EXPERIMENTS_EVALUATE_DETAILS_H_

#include "eval/metrics/ranked_input.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/details.pb.h"
#include "experiments/store/outputs.h"

namespace openset {

// Returns the curves of the pool and, if there are several sets of unknown samples, the ROC and the OSCR of each;
// densities; decisions by class at the method's own threshold, or at the one that accepts 95 % of the known samples;
// and the largest mistakes. Leaves out anything that is undefined on the samples (for example, because none is
// unknown). `ranked` is the ranking of `outputs`, without weights.
TrialDetails MakeDetails(const TrialSpec& trial, const Outputs& outputs, const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_EVALUATE_DETAILS_H_

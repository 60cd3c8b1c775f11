// Evaluates a trial: its score, its metrics, and the details and the provenance of its record.
#ifndef OPENSET_EXPERIMENTS_EVALUATE_EVALUATION_H_
#define OPENSET_EXPERIMENTS_EVALUATE_EVALUATION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "eval/files/sample_set.h"
#include "eval/metrics/ranked_input.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/details.pb.h"
#include "experiments/store/outputs.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Computes the details that a record stores about its test samples in addition to the metrics, for figures and tables.

// Returns the curves of the pool and, if there are several sets of unknown samples, the ROC and the OSCR of each;
// densities; decisions by class at the method's own threshold, or at the one that accepts 95 % of the known samples;
// and the largest mistakes. Leaves out anything that is undefined on the samples (for example, because none is
// unknown). `ranked` is the ranking of `outputs`, without weights.
TrialDetails MakeDetails(const TrialSpec& trial, const Outputs& outputs, const RankedInput& ranked);

// ---- The provenance of the inputs of an evaluation.

// Adds the stages before the evaluation to the record's provenance, in the order given in record.proto, the tensors
// that were left out when its trainings imported weights, and the first model's epochs and checkpoint. `fit` is null
// unless the score is fitted. Errors: kDataLoss if `test` has other trainings than its action.
absl::Status AddInputs(const InferSummary& test, const InferSummary* fit, TrialRecord* record);

// The last action of a trial: computes the record from stored outputs (score, then metrics). Does not need LibTorch.

// Computes the trial's score for the outputs and returns `metric`, `counts` and `details` of a record. The metrics are
// computed for each of MetricGroupsOf(trial.data()); a metric that reads no unknown samples only for the pool. The
// means over near and far groups have intervals too. `fit` are the outputs for the training samples; null unless the
// score is fitted. Errors: kInvalidArgument for outputs that can't be scored (NaN, with the row).
absl::StatusOr<TrialRecord> Measure(const TrialSpec& trial, const Outputs& outputs, const Outputs* fit = nullptr);

// The same without `details`, for learning curves, which store only the metrics.
absl::StatusOr<TrialRecord> MeasureMetrics(const TrialSpec& trial, const Outputs& outputs,
                                           const Outputs* fit = nullptr);

// The trial's samples from the outputs in the store, with the trial's score, in the form in which `openset eval` reads
// samples from files. Errors: as EvaluateTrial().
absl::StatusOr<SampleSet> ScoredSamplesOf(const TrialSpec& trial, const Store& store);

// Makes the trial's record from the outputs in the store that its evaluation names, and commits it under `key`. Errors:
// kInvalidArgument for outputs that can't be scored (NaN, with the row); kNotFound or kDataLoss if outputs are missing
// or corrupt; kUnimplemented if a newer openset wrote them; a read failure (IsReadFailure() in
// experiments/store/store.h); a write error (core/files/files.h).
absl::Status EvaluateTrial(const std::string& key, const ActionSpec& action, const TrialSpec& trial,
                           const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_EVALUATE_EVALUATION_H_

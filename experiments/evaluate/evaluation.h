// The last action of a trial: computes the record from stored outputs (score, then metrics). Does not need LibTorch.
#ifndef OPENSET_EXPERIMENTS_EVALUATE_EVALUATION_H_
#define OPENSET_EXPERIMENTS_EVALUATE_EVALUATION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/outputs.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Computes the trial's score for the outputs and returns `metric`, `counts` and `details` of a record. The metrics are
// computed for each of MetricGroupsOf(trial.data()); a metric that reads no unknown samples only for the pool. The
// means over near and far groups have intervals too. `fit` are the outputs for the training samples; null unless the
// score is fitted. Errors: kInvalidArgument for outputs that can't be scored (NaN, with the row).
absl::StatusOr<TrialRecord> Measure(const TrialSpec& trial, const Outputs& outputs, const Outputs* fit = nullptr);

// The same without `details`, for learning curves, which store only the metrics.
absl::StatusOr<TrialRecord> MeasureMetrics(const TrialSpec& trial, const Outputs& outputs,
                                           const Outputs* fit = nullptr);

// Makes the trial's record from the outputs in the store, and commits it under the key of its EvaluateAction. Errors:
// as Measure(); kNotFound or kDataLoss if outputs are missing or corrupt.
absl::Status EvaluateTrial(const std::string& key, const TrialSpec& trial, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_EVALUATE_EVALUATION_H_

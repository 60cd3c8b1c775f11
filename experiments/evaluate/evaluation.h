// The last action of a trial: stored outputs -> score -> metrics -> record. No LibTorch.
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

// Scores outputs as the trial says and measures them: `metric`, `counts` and `details` of a record, the metrics for
// each of MetricGroupsOf(trial.data()); one that reads no unknown sample is there for the pool only. The means over
// near and far sets have no intervals. `fit` are the outputs for the training samples; null unless the score is fitted.
// Errors: kInvalidArgument for outputs that can't be scored (NaN, with the row).
absl::StatusOr<TrialRecord> Measure(const TrialSpec& trial, const Outputs& outputs, const Outputs* fit = nullptr);

// The same without `details`, for learning curves, which keep the metrics only.
absl::StatusOr<TrialRecord> MeasureMetrics(const TrialSpec& trial, const Outputs& outputs,
                                           const Outputs* fit = nullptr);

// Makes the trial's record from the outputs in the store, and commits it under the key of its EvaluateAction.
// Errors: as Measure; kNotFound or kDataLoss for outputs that are missing or damaged.
absl::Status EvaluateTrial(const std::string& key, const TrialSpec& trial, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_EVALUATE_EVALUATION_H_

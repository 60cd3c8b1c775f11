// What is measured on the way through a training, for learning curves (EpochEvaluation in
// experiments/spec/action.proto).
#ifndef OPENSET_EXPERIMENTS_TRAIN_EPOCH_EVALUATOR_H_
#define OPENSET_EXPERIMENTS_TRAIN_EPOCH_EVALUATOR_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/worker/action_context.h"
#include "models/model.h"

namespace openset {

// Whether the action asks for it after so many epochs; after the last one it always does, if it asks at all.
bool IsEvaluationDue(const TrainAction& action, size_t complete_epochs, bool is_last);

// Runs the model over the samples, scores and measures it, by the code of inferences and evaluations, and adds the
// metrics to `epoch`. A score that is fitted is fitted to the training samples' outputs each time. Puts the model in
// evaluation mode; its tensors stay as they are. Reports as CollectOutputs() does. Outputs that can't be scored (of a
// network that knows too little yet for the score's fit) make the metrics absent, with the reason: the training goes
// on. Errors: those of CollectOutputs() and other ones of MeasureMetrics().
absl::Status EvaluateEpoch(const TrainAction& action, const std::shared_ptr<Model>& model, const ActionContext& context,
                           EpochSummary* epoch);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_EPOCH_EVALUATOR_H_

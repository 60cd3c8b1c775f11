// Measurements during a training, for learning curves (EpochEvaluation in experiments/spec/action.proto).
#ifndef OPENSET_EXPERIMENTS_LEARNING_CURVE_MEASURE_EPOCH_H_
#define OPENSET_EXPERIMENTS_LEARNING_CURVE_MEASURE_EPOCH_H_

#include <memory>

#include "absl/status/status.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/worker/action_context.h"
#include "models/model.h"

namespace openset {

// Runs the model over the samples, computes the score and the metrics with the code of inference and evaluation, and
// adds the metrics to `epoch`. A fitted score is fitted to the training samples' outputs each time. Puts the model into
// evaluation mode and leaves its tensors unchanged. Reports as CollectOutputs() does. If the outputs can't be scored
// (because the network is not trained enough for the score's fit), the metrics are absent, with the reason, and the
// training continues. Errors: an error of the data (data/sets/data_set.h).
absl::Status MeasureEpoch(const TrainAction& action, const std::shared_ptr<Model>& model, const ActionContext& context,
                          EpochSummary* epoch);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_LEARNING_CURVE_MEASURE_EPOCH_H_

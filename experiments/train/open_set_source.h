// Makes the source of an OpenSetSpec.
#ifndef OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_SOURCE_H_
#define OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_SOURCE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/tensor/open_set.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/open_set.pb.h"
#include "experiments/worker/action_context.h"

namespace openset {

// Makes the source for a training on the context's device, of a model with features of this dimension. Null if the
// action has no open set. Errors, for external images: an error of the data (data/sets/data_set.h); kInvalidArgument
// also if the model can't take them. Precondition: the action's spec obeys its schema's rules and has its defaults
// filled in.
absl::StatusOr<std::unique_ptr<OpenSetSource>> MakeOpenSetSource(const TrainAction& action,
                                                                 const ActionContext& context, int64_t feature_dim);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_SOURCE_H_

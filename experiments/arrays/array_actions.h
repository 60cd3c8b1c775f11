// Trainings and inferences that need no network and no LibTorch: outputs that were computed elsewhere, and heads that
// are fitted to features.
#ifndef OPENSET_EXPERIMENTS_ARRAYS_ARRAY_ACTIONS_H_
#define OPENSET_EXPERIMENTS_ARRAYS_ARRAY_ACTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "data/catalog.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/stage_clock.h"
#include "experiments/store/store.h"

namespace openset {

// The environment of such an action.
struct ArrayContext {
  std::string key;  // digest of the action
  Store store;
  Catalog* catalog;  // gets the digests of files that it lacks
  std::vector<std::string> data_folders;
  StageClock clock;
};

// Commits the checkpoint of a training whose model UsesArraysOnly() (experiments/spec/model_files.h): a fitted head's
// weights in f64, or no tensors for outputs, which stay in their files until they are inferred. Errors: kDataLoss if a
// file, or the data set, is not the one that the action names; those of reading, and of FitLogisticRegression()
// (experiments/arrays/fitted_heads.h).
absl::Status TrainOnArrays(const TrainAction& action, const ArrayContext& context);

// Commits the outputs of an inference with such a model: those of its file in the order of the action's samples, or the
// fitted head's. Errors: the same; kInvalidArgument with file and row for outputs that don't fit the action: other
// numbers of samples or labels, missing or further groups, other names of classes, fewer outputs than classes. If the
// images of the task are not on this machine, only the numbers of samples of each class are compared.
absl::Status InferOnArrays(const InferAction& action, const ArrayContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ARRAYS_ARRAY_ACTIONS_H_

// Trainings and inferences that need no network and no LibTorch: outputs that were computed elsewhere, and heads that
// are fitted to features.
#ifndef OPENSET_EXPERIMENTS_ARRAYS_ARRAY_ACTIONS_H_
#define OPENSET_EXPERIMENTS_ARRAYS_ARRAY_ACTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/store/stage_clock.h"
#include "experiments/store/store.h"
#include "experiments/worker/worker_loop.h"

namespace openset {

// The environment of such an action.
struct ArrayContext {
  std::string key;  // digest of the action
  Store store;
  Catalog* catalog;  // gets the digests of files that it lacks
  std::vector<std::string> data_folders;
  StageClock clock;
  // For trainings by another program.
  ReportProgress report = [](const WorkProgress&) {};
  Poll poll = [] { return false; };
  std::optional<int> cuda_device;
  std::string continued_key;  // WorkRequest.continued_key
  bool allow_commands = false;
};

// The number of samples of a selection. If its files are not on this machine, only the catalog is read. Errors: an
// error of the data (data/sets/data_set.h); kDataLoss also if the selection was made from other files.
absl::StatusOr<int64_t> CountChecked(const Selection& selection, const ArrayContext& context);

// Commits the checkpoint of a training whose model UsesArraysOnly() (experiments/spec/model_files.h): a fitted head's
// weights in f64; the outputs that another program wrote; no tensors for outputs that were computed elsewhere, which
// stay in their files until they are inferred. Errors: an error of the data (data/sets/data_set.h); kDataLoss also if a
// file, or the data set, is not the one that the action names; a write error (core/files/files.h). For a head:
// kOutOfRange, with what to change, if the fit takes more steps than allowed; kInvalidArgument if there is one class
// only. For outputs: kInvalidArgument, with file, array and row, for invalid ones. For a command: kPermissionDenied
// unless commands are allowed; kCancelled if it was stopped; kAborted if it fails; kInvalidArgument, with the file, for
// outputs that are missing or don't fit.
absl::Status TrainOnArrays(const ActionSpec& spec, const ArrayContext& context);

// Commits the outputs of an inference with such a model: the outputs in its file, in the order of the action's samples,
// or the outputs of the fitted head. If the images of the task are not on this machine, only the numbers of samples of
// each class are compared. Errors: an error of the data; kInvalidArgument with file and row for outputs that don't fit
// the action: other numbers of samples or labels, missing or further groups, other names of classes, fewer outputs than
// classes; kNotFound if the training is not in the store, or its command wrote no outputs for these samples; kDataLoss
// if its checkpoint is corrupt; a write error.
absl::Status InferOnArrays(const ActionSpec& action, const ArrayContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ARRAYS_ARRAY_ACTIONS_H_

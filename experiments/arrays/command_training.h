// Trainings by another program (CommandSpec, docs/trainer.md).
#ifndef OPENSET_EXPERIMENTS_ARRAYS_COMMAND_TRAINING_H_
#define OPENSET_EXPERIMENTS_ARRAYS_COMMAND_TRAINING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/arrays/array_actions.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/outputs.h"
#include "experiments/store/record.proto.h"

namespace openset {

// What the program has made.
struct CommandResult {
  std::string checkpoint;            // a safetensors file with the outputs for each part of the samples
  std::string weights;               // instead, the path of the file of weights of the action's network
  std::vector<EpochSummary> epochs;  // as far as it reported them
  std::vector<std::string> notes;    // likely mistakes in its files
};

// Runs the action's command in store.WorkFolder(context.key): copies its sources there, writes the samples and
// trial.json, waits for its end and reads its outputs, or finds the weights. When the user stops the run, the command
// gets SIGTERM, and SIGKILL ten seconds later; a later attempt finds what it left in state/, and so does a training
// that continues this one. Errors: kPermissionDenied unless context.allow_commands; kCancelled if it was stopped;
// kAborted if it fails; kInvalidArgument, with the file, for outputs that are missing or don't fit the samples; an
// error of the data (data/sets/data_set.h); a write error (core/files/files.h).
absl::StatusOr<CommandResult> RunTrainingCommand(const TrainAction& action, const ArrayContext& context);

// The outputs of an inference on samples of the training `train`, from the bytes of its checkpoint. Errors: kNotFound
// if the command wrote none for these samples, with the file that it would have to write; kDataLoss.
absl::StatusOr<Outputs> OutputsOfCommand(const InferAction& action, const TrainAction& train,
                                         const std::string& checkpoint);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ARRAYS_COMMAND_TRAINING_H_

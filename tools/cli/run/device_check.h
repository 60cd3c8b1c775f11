// Tries out what devices compute: `openset devices --check`.
#ifndef OPENSET_TOOLS_CLI_RUN_DEVICE_CHECK_H_
#define OPENSET_TOOLS_CLI_RUN_DEVICE_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/spec/trial.proto.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// The actions of one kind, in one precision.
struct CheckedKind {
  ExecutionSpec::Precision precision = ExecutionSpec::FP32;
  ActionKind kind = ActionKind::kTrain;
  int actions = 0;
  // A line for each action that failed, was not tried, or gave other bytes the second time.
  std::vector<std::string> problems;
};

// Runs a study of 320 made-up images on the device, "cpu" or "cuda:0", as `openset run --devices=DEVICE` would, twice,
// each time in new processes. It trains networks for two steps: with augmentation, with feature mixtures, with external
// images, with a source that learns. It infers, also with gradients of the images, evaluates, also with scores that are
// fitted, and chooses a learning rate; all in FP32, and a part of it in each other precision that the device computes.
// The two results of an action must be equal to the byte: checkpoint, outputs, record (without provenance), choice.
// Leaves nothing behind. Errors: kInvalidArgument if this machine has no such device or can't use it; kNotFound if the
// worker's program, a Python or, for a GPU, LibTorch's CUDA library is missing; kFailedPrecondition if this Python's
// PyTorch or the driver doesn't fit; kUnavailable if the temporary folder can't be made or written, or if no GPU is
// left; kCancelled if the user stopped it.
absl::StatusOr<std::vector<CheckedKind>> CheckDevice(const std::string& device, RunConfig config);

// A table with a line for each kind, then the problems.
std::string DeviceCheckText(const std::string& device, const std::vector<CheckedKind>& checked);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_DEVICE_CHECK_H_

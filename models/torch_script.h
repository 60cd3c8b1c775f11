// A user's own network, from a TorchScript archive.
#ifndef OPENSET_MODELS_TORCH_SCRIPT_H_
#define OPENSET_MODELS_TORCH_SCRIPT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Returns the script as a model, with the file's parameters. Runs the script on images as in `input` to find out what
// it returns.
//   * With spec.head, the backbone returns the inputs of that linear module, [B, D], and the model's head is a linear
//     one with its weights. If the script returns logits, it is run with the module's weight replaced by the identity
//     and its bias by 0; if it returns (features, logits), the features are used. The model can be trained.
//   * Without spec.head, the backbone returns the script's outputs concatenated and the head splits them: logits, and
//     features if spec.features says so. The model can't be trained.
// The logits of the known classes are those that spec.output lists, in its order. Initialise() draws nothing. Dropout
// inside a script can't be switched on alone; in training mode, it draws from the model's generator, if one is set.
// The script's parameters, buffers and constants are on use.device. The script is run there once, and if it will be
// trained, its gradients are computed once. Errors of the device (out of memory, a failure) are rethrown; see
// core/tensor/torch_error.h.
//
// Errors, with the file: kNotFound; kFailedPrecondition if it has another SHA-256; kInvalidArgument if it is not a
// script; if the script fails on two or on three such images (its code may name another device); if its outputs do not
// have the shapes above, are NaN, are probabilities (rows without a negative number that sum to 1 within 1e-4, so that
// it ends in a softmax) or are not one for each known class; if it has no such linear module or its logits are not that
// module's outputs.
absl::StatusOr<std::shared_ptr<Model>> MakeTorchScriptModel(const TorchScriptSpec& spec, const InputSpec& input,
                                                            int num_classes, const ModelUse& use = {});

}  // namespace openset

#endif  // OPENSET_MODELS_TORCH_SCRIPT_H_

// A user's own network, from a TorchScript archive.
#ifndef OPENSET_MODELS_TORCH_SCRIPT_H_
#define OPENSET_MODELS_TORCH_SCRIPT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// The script as a model, with the file's parameters. It is run once, on images as in `input`, to see what it gives.
//   * With spec.head, the backbone gives what that linear module takes in, [B, D], and the model's head is a linear one
//     with its weights: a script of logits is run with the module's weight replaced by the identity and its bias by 0,
//     of a script of (features, logits) the features are taken. The model can be trained.
//   * Without it, the backbone gives the script's outputs side by side and the head tells them apart: logits, and
//     features if spec.features says so. The model can't be trained.
// The outputs spec.output lists, in its order, are those of the known classes. Initialise() draws nothing; dropout
// inside a script can't be switched on alone. In training mode it draws from the model's generator, if one is set.
// Its parameters, buffers and constants are on use.device, where it is run once; for a training, its gradients are
// computed once as well. What a device throws for lack of memory, or because it failed, is thrown on
// (core/tensor/torch_error.h). Errors, with the file: kNotFound; kFailedPrecondition if it has another SHA-256;
// kInvalidArgument if it is no script, if the script fails on two or on three such images (its code may name another
// device), if its outputs are not of the shapes above, are NaN, are probabilities (rows without a negative number that
// sum to 1 within 1e-4: it ends in a softmax) or are not one for each known class, if it has no such linear module or
// its logits are not that module's outputs.
absl::StatusOr<std::shared_ptr<Model>> MakeTorchScriptModel(const TorchScriptSpec& spec, const InputSpec& input,
                                                            int num_classes, const ModelUse& use = {});

}  // namespace openset

#endif  // OPENSET_MODELS_TORCH_SCRIPT_H_

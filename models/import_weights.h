// Starting from weights that were made elsewhere.
#ifndef OPENSET_MODELS_IMPORT_WEIGHTS_H_
#define OPENSET_MODELS_IMPORT_WEIGHTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "models/checkpoint.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Copies `given` into the model by name, as `spec` says (its file aside). Names may be our own
// ("backbone.conv1.weight", "head.weight") or torchvision's and timm's ("conv1.weight", "fc.weight"), with "module." in
// front of all; a module "shortcut", as in OpenOOD's ResNets, is "downsample". num_batches_tracked may be missing and
// stays as it is; floating-point values are converted to the model's type. With SKIP, the head stays as it is. The
// names of tensors that `spec.ignore` leaves out are appended to `ignored`, if given. Errors: kInvalidArgument for
// tensors that are missing, left over, or of another shape or kind, with their names as the model (missing) and `given`
// (others) have them, and what to do; for a pattern or a renaming that fits no name, and for two tensors of one name.
// The model is then unchanged.
absl::Status ImportTensors(const TensorMap& given, const WeightsSpec& spec, Model* model,
                           std::vector<std::string>* ignored = nullptr);

// ImportTensors() of the spec's file: safetensors, an archive of torch.save() (core/files/formats/torch_file.h), or of
// TorchScript.
// Errors, with the file: also kNotFound, kFailedPrecondition if it has another SHA-256, kDataLoss for damaged files,
// kInvalidArgument for those that hold other objects than tensors.
absl::Status ImportWeights(const WeightsSpec& spec, Model* model, std::vector<std::string>* ignored = nullptr);

}  // namespace openset

#endif  // OPENSET_MODELS_IMPORT_WEIGHTS_H_

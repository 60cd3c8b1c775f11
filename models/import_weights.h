// Imports weights from other sources.
#ifndef OPENSET_MODELS_IMPORT_WEIGHTS_H_
#define OPENSET_MODELS_IMPORT_WEIGHTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "models/checkpoint.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Copies `given` into the model by name, as `spec` says (except for its file). Names may be openset's
// ("backbone.conv1.weight", "head.weight") or those of torchvision and timm ("conv1.weight", "fc.weight"), all with or
// without the prefix "module."; a module "shortcut", as in OpenOOD's ResNets, is "downsample". num_batches_tracked may
// be missing and then doesn't change; floating-point values are converted to the model's type. With SKIP, the head
// doesn't change. Appends the names of tensors that `spec.ignore` excludes to `ignored`, if given. Errors:
// kInvalidArgument, with what to do, for tensors that are missing (with the model's names), or that are left over or
// have another shape or kind (with the names in `given`); for a pattern or a renaming that matches no name; and for two
// tensors with the same name, also if it is the same only in the model ("fc.weight" and "head.weight"). The model is
// then unchanged.
absl::Status ImportTensors(const TensorMap& given, const WeightsSpec& spec, Model* model,
                           std::vector<std::string>* ignored = nullptr);

// ImportTensors() of the spec's file, which is read once: safetensors, an archive of torch.save()
// (core/files/formats/torch_file.h), or of TorchScript. Errors, with the file: also kNotFound; kFailedPrecondition if
// it has another SHA-256; kDataLoss for corrupt files; kInvalidArgument for files with other objects than tensors.
absl::Status ImportWeights(const WeightsSpec& spec, Model* model, std::vector<std::string>* ignored = nullptr);

}  // namespace openset

#endif  // OPENSET_MODELS_IMPORT_WEIGHTS_H_

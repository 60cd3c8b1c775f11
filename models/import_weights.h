// Imports weights from other sources.
#ifndef OPENSET_MODELS_IMPORT_WEIGHTS_H_
#define OPENSET_MODELS_IMPORT_WEIGHTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/tensor/torch.h"
#include "models/checkpoint.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// What an import did that the user should know.
struct ImportNotes {
  std::vector<std::string> ignored;  // names of tensors that WeightsSpec.ignore excludes
  std::vector<std::string> lines;    // "the names begin with 'model.', which is left out"
};

// Copies `given` into the model by name, as `spec` says (except for its file and key). Names may be openset's
// ("backbone.conv1.weight", "head.weight") or torchvision's and timm's ("conv1.weight", "fc.weight"), all with or
// without a prefix that all names share ("module.", "model.module.") and that is left out if more names fit the model
// without it; a module "shortcut", as in OpenOOD's ResNets, is "downsample". The counter "n_averaged" of PyTorch's
// averaged models is left out, num_batches_tracked may be missing and then doesn't change; floating-point values are
// converted to the model's type. With SKIP, the head doesn't change. Adds to `notes`, if given. Errors:
// kInvalidArgument, with what to do, for tensors that are missing (with the model's names), or that are left over or
// have another shape or kind (with the names in `given`) or values that are not finite; for outputs that the head
// lacks; for a pattern or a renaming that matches no name; and for two tensors with the same name, also if it is the
// same only in the model ("fc.weight" and "head.weight"). The model is then unchanged.
absl::Status ImportTensors(const TensorMap& given, const WeightsSpec& spec, Model* model, ImportNotes* notes = nullptr);

// ImportTensors() of the spec's file, which is read once: safetensors, or a file of torch.save() or TorchScript
// (core/files/formats/torch_file.h), of which no code runs. Errors, with the file: also a read error
// (core/files/system_calls.h); kFailedPrecondition if it has another SHA-256; kDataLoss also for corrupt files;
// kInvalidArgument for files with other objects than tensors, for other formats, and for a name of another format
// (core/files/formats/header_check.h); kUnimplemented for a tensor of a type that is not read; kOutOfRange for a pickle
// that is too large.
absl::Status ImportWeights(const WeightsSpec& spec, Model* model, ImportNotes* notes = nullptr);

// The positions of the known classes among `outputs` outputs, i64 [num_classes]. `field` names their list in messages
// ("weights.output"), and `whose` the outputs ("the script's"). Errors: kInvalidArgument for another number than
// `num_classes`, a position that is not in [0, outputs), or one that occurs twice.
absl::StatusOr<at::Tensor> OutputPlaces(absl::string_view field, const std::vector<int64_t>& places,
                                        absl::string_view whose, int64_t outputs, int64_t num_classes);

}  // namespace openset

#endif  // OPENSET_MODELS_IMPORT_WEIGHTS_H_

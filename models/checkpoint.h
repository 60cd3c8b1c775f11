// Models as safetensors files: loading one runs no code, and Python's `safetensors` reads them.
#ifndef OPENSET_MODELS_CHECKPOINT_H_
#define OPENSET_MODELS_CHECKPOINT_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/files/formats/safetensors.h"
#include "core/tensor/torch.h"
#include "models/model.h"

namespace openset {

// Tensors by name, on the CPU, contiguous (never channels-last).
using TensorMap = std::map<std::string, at::Tensor>;

// Returns copies of all parameters and buffers of a model.
TensorMap StateOf(const Model& model);

// Copies `state` into the model's parameters and buffers, on any device. Errors: kInvalidArgument for missing or
// unknown names or other shapes or dtypes, with the names; the model is then unchanged.
absl::Status SetState(const TensorMap& state, Model* model);

// Writes tensors to a safetensors file, atomically (core/files/files.h). Strings in `metadata` go to its
// "__metadata__". Errors: kInvalidArgument for a dtype that the format lacks (complex numbers, say); a write error
// (core/files/files.h).
absl::Status SaveTensors(const TensorMap& tensors, const std::map<std::string, std::string>& metadata,
                         const std::string& path);

// Errors: a read error (core/files/system_calls.h); naming the file and the tensor, kDataLoss for a file that is not
// well-formed safetensors (truncated, offsets that overlap or lie outside, a size that does not fit dtype and shape),
// and kUnimplemented for a dtype that is not read.
absl::StatusOr<TensorMap> LoadTensors(const std::string& path);

// An array's elements, copied.
at::Tensor TensorOf(const ArrayView& array);

// LoadTensors() of a file's content; errors name the tensor.
absl::StatusOr<TensorMap> DecodeTensors(absl::string_view bytes);

}  // namespace openset

#endif  // OPENSET_MODELS_CHECKPOINT_H_

// Reads the tensors of files that torch.save() wrote (.pth, .pt), without LibTorch and without running code.
#ifndef OPENSET_CORE_FILES_FORMATS_TORCH_FILE_H_
#define OPENSET_CORE_FILES_FORMATS_TORCH_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/files/formats/safetensors.h"

namespace openset {

// The limits for the storages of all tensors, in bytes and as a multiple of the file's size, whichever is more. A
// storage that several tensors share counts once for each of them.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 30;
inline constexpr int64_t kMaxTensorTimes = 64;

// An array with its elements, row-major and little-endian.
struct OwnedArray {
  ArrayType type;
  std::vector<int64_t> shape;
  std::string data;
};

// Reads a state dict from the content of a file that torch.save() wrote in its zip format (the only one since
// PyTorch 1.6): a dict or OrderedDict of tensors by name, or a checkpoint that has one under "state_dict",
// "model_state_dict", "model", "net" or "network". Tensors may be views into one storage, and may have been saved from
// any device. Errors: kInvalidArgument for the older format, for a file with a Python object other than tensors,
// storages, dicts, lists, tuples, numbers and texts (with its name), for big-endian files, for a type that ArrayType
// lacks; kDataLoss for a corrupt archive, tensors that exceed their storage, or storages above the limits; kOutOfRange
// for a pickle that is too large for ReadPickle().
absl::StatusOr<std::map<std::string, OwnedArray>> DecodeTorchFile(absl::string_view file);

// Whether torch.save() wrote the zip archive `bytes`, and not TorchScript: it has data.pkl and no constants.pkl.
bool IsTorchSave(absl::string_view bytes);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_TORCH_FILE_H_

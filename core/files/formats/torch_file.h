// The tensors of what torch.save() writes (.pth, .pt), without LibTorch and without running anything.
#ifndef OPENSET_CORE_FILES_FORMATS_TORCH_FILE_H_
#define OPENSET_CORE_FILES_FORMATS_TORCH_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/files/formats/safetensors.h"

namespace openset {

// What the storages of all tensors may take, one that several tensors lie in counted for each: this, or this often the
// file's own size.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 30;
inline constexpr int64_t kMaxTensorTimes = 64;

// An array with its elements, row-major and little-endian.
struct OwnedArray {
  ArrayType type;
  std::vector<int64_t> shape;
  std::string data;
};

// Reads a state dict that torch.save() wrote in its zip format (the only one since PyTorch 1.6): a dict or OrderedDict
// of tensors by name, or a checkpoint that holds one under "state_dict", "model_state_dict", "model", "net" or
// "network". Tensors may be views into one storage; they may lie on any device.
// Errors, with the path: kNotFound; kInvalidArgument for the older format, for a file with a Python object other than
// tensors, storages, dicts, lists, tuples, numbers and texts (with its name), for big-endian files, for a type that
// ArrayType lacks; kDataLoss for a damaged archive, tensors that lie outside their storage, or more than may be;
// kOutOfRange for a pickle with more than ReadPickle() takes.
absl::StatusOr<std::map<std::string, OwnedArray>> ReadTorchFile(const std::string& path);

// Whether the zip archive `bytes` is one of torch.save(), not TorchScript's: it has data.pkl and no constants.pkl.
bool IsTorchSave(absl::string_view bytes);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_TORCH_FILE_H_

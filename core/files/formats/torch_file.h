// Reads the tensors of files that PyTorch wrote (.pth, .pt), without LibTorch and without running code.
#ifndef OPENSET_CORE_FILES_FORMATS_TORCH_FILE_H_
#define OPENSET_CORE_FILES_FORMATS_TORCH_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
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

struct TorchTensors {
  std::map<std::string, OwnedArray> arrays;
  // The key of a checkpoint under which the arrays are, "" if the file has nothing else; and the keys of the other
  // dicts there that have tensors alone, at least half as many.
  std::string key;
  std::vector<std::string> other_keys;
};

// Reads the tensors from the content of a file:
//  * of torch.save(), in its zip format or in the format before PyTorch 1.6: a dict or OrderedDict of tensors by name,
//    or a checkpoint that has one under `key`, or without a key under "state_dict", "model_state_dict", "model", "net"
//    or "network", or else under its only key with such a dict. Tensors may be views into one storage, and may have
//    been saved from any device.
//  * of TorchScript: the parameters and buffers of its modules, by their paths ("layer1.0.conv1.weight"). None of its
//    code runs.
// Errors: kInvalidArgument, with what to do, for a file with a Python object other than tensors, storages, dicts,
// lists, tuples, numbers and texts (with its name), for TorchScript whose code defines __setstate__, which computes its
// tensors, for a key that the file lacks or several that are equally good, for big-endian files, for a type that
// ArrayType lacks, and for other formats; kDataLoss for a corrupt file, tensors that exceed their storage, or storages
// above the limits; kOutOfRange for a pickle that is too large for ReadPickle().
absl::StatusOr<TorchTensors> DecodeTorchFile(absl::string_view file, absl::string_view key = "");

// Whether weights can be read from a file without running code: OK for anything but TorchScript whose code defines
// __setstate__ (kInvalidArgument, with the path), so also for files that are missing or corrupt.
absl::Status CheckRunsNoCode(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_TORCH_FILE_H_

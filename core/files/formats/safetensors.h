// The safetensors file format: arrays by name, stored so that reading them runs no code. Doesn't need LibTorch;
// models/checkpoint.h reads and writes tensors.
//
// A file is a u64 (little-endian) N, N bytes of JSON {"NAME": {"dtype", "shape", "data_offsets": [begin, end]}, ...,
// "__metadata__": {TEXT: TEXT}}, padded with spaces to a multiple of 8, and the data, which the offsets divide without
// gaps or overlaps. Source: github.com/huggingface/safetensors, README.md, "Format".
#ifndef OPENSET_CORE_FILES_FORMATS_SAFETENSORS_H_
#define OPENSET_CORE_FILES_FORMATS_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

// In the order of a file's data.
enum class ArrayType { kI64, kF64, kF32, kI32, kBf16, kF16, kI16, kI8, kU8, kBool };

// "F32".
absl::string_view NameOf(ArrayType type);
// Bytes of one element.
int64_t SizeOf(ArrayType type);

// One array of a file, its elements in row-major order, little-endian.
struct ArrayView {
  ArrayType type;
  std::vector<int64_t> shape;  // empty for a scalar
  absl::string_view data;      // not owned
};

struct Safetensors {
  std::map<std::string, ArrayView> arrays;
  std::map<std::string, std::string> metadata;
};

// The bytes of a file, with the arrays ordered by type, then by name, as Python's `safetensors` does. The same content
// gives the same bytes. Errors: kInvalidArgument, naming the array, for data that does not match type and shape, a name
// that is not UTF-8 or is "__metadata__", or a header above 100 MB, which readers refuse.
absl::StatusOr<std::string> EncodeSafetensors(const Safetensors& content);

// Reads `bytes`, which must outlive the result. Uses no more memory than a multiple of the header's actual size.
// Errors, naming the array: kDataLoss for a malformed file (truncated, invalid JSON, a header above 100 MB, a duplicate
// name, offsets that overlap, leave gaps or are out of range, a size that does not match type and shape);
// kUnimplemented for a type that ArrayType lacks.
absl::StatusOr<Safetensors> DecodeSafetensors(absl::string_view bytes);

// What DecodeSafetensors() would return for a file of `file_bytes` bytes that begins with `begin`, as far as `begin`
// shows it: if the header extends beyond `begin`, checks only its length and first byte. Never checks data.
absl::Status CheckSafetensorsBeginning(absl::string_view begin, int64_t file_bytes);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_SAFETENSORS_H_

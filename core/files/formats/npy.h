// NumPy's array format (.npy, versions 1.0 to 3.0; NEP 1), little-endian numbers, bools and texts.
#ifndef OPENSET_CORE_FILES_FORMATS_NPY_H_
#define OPENSET_CORE_FILES_FORMATS_NPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace openset {

// An array as stored. Object arrays (pickles) are refused: reading one would run code.
struct NpyArray {
  std::string descr;           // "<f2", "<f4", "<i8", "|u1", "|b1", "<U12", ...
  std::vector<int64_t> shape;  // empty: a single value
  std::string data;            // row-major (C order), little-endian

  int64_t size() const;  // elements
};

// Parses an array. Column-major arrays are converted to row-major order. Errors: kInvalidArgument for valid arrays of
// an unsupported type (objects, complex numbers, big-endian, structures); kDataLoss for bytes that are not such an
// array, or whose length differs from the header's.
absl::StatusOr<NpyArray> ParseNpy(absl::string_view bytes);
// The same; the array takes over the memory of `bytes`.
absl::StatusOr<NpyArray> ParseOwnedNpy(std::string bytes);

// The same for a file. Never reads more than its header declares. Errors, with the path: also a read error
// (core/files/system_calls.h); kResourceExhausted also if the array doesn't fit in memory.
absl::StatusOr<NpyArray> ReadNpy(const std::string& path);

// Version 1.0. The same array gives the same bytes.
std::string FormatNpy(const NpyArray& array);

// The header of such an array, which precedes its data.
std::string FormatNpyHeader(absl::string_view descr, absl::Span<const int64_t> shape);

NpyArray MakeNpy(absl::Span<const float> values, std::vector<int64_t> shape);
NpyArray MakeNpy(absl::Span<const double> values, std::vector<int64_t> shape);
NpyArray MakeNpy(absl::Span<const int64_t> values, std::vector<int64_t> shape);
// One-dimensional, "<U" of the longest text. Precondition: valid UTF-8.
NpyArray MakeNpy(const std::vector<std::string>& texts);

// The elements as another type; ToInt64 accepts integral values of any type. Errors: kInvalidArgument, with the array's
// type, if it is not numeric (for ToTexts: not text); from ToInt64 also with the index (from 0) of the first element
// that is not integral or is a float beyond 2^53.
absl::StatusOr<std::vector<float>> ToFloat(const NpyArray& array);
absl::StatusOr<std::vector<double>> ToDouble(const NpyArray& array);
absl::StatusOr<std::vector<int64_t>> ToInt64(const NpyArray& array);
absl::StatusOr<std::vector<std::string>> ToTexts(const NpyArray& array);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_NPY_H_

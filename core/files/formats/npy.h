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

// Errors: kInvalidArgument for what is valid but not supported (objects, complex numbers, big-endian, structures),
// kDataLoss for bytes that are no such array, or whose length is not what the header says. Column-major arrays are
// brought to row-major order.
absl::StatusOr<NpyArray> ParseNpy(absl::string_view bytes);
// The same; the array keeps the memory of `bytes`.
absl::StatusOr<NpyArray> ParseOwnedNpy(std::string bytes);

// The same for a file, errors with the path. What its header does not ask for is never read. Errors: also those of
// ReadFile() (core/files/files.h).
absl::StatusOr<NpyArray> ReadNpy(const std::string& path);

// Version 1.0. The same array gives the same bytes.
std::string FormatNpy(const NpyArray& array);

// What stands before the data of such an array.
std::string FormatNpyHeader(absl::string_view descr, absl::Span<const int64_t> shape);

NpyArray MakeNpy(absl::Span<const float> values, std::vector<int64_t> shape);
NpyArray MakeNpy(absl::Span<const double> values, std::vector<int64_t> shape);
NpyArray MakeNpy(absl::Span<const int64_t> values, std::vector<int64_t> shape);
// One-dimensional, "<U" of the longest text. Precondition: valid UTF-8.
NpyArray MakeNpy(const std::vector<std::string>& texts);

// The elements as another type; ToInt64 takes whole numbers of any type. Errors: kInvalidArgument, with the type that
// is there, if it is not a number (not a text for ToTexts), and from ToInt64 with the first element, counted from 0,
// that is not whole or, as a float, beyond 2^53.
absl::StatusOr<std::vector<float>> ToFloat(const NpyArray& array);
absl::StatusOr<std::vector<double>> ToDouble(const NpyArray& array);
absl::StatusOr<std::vector<int64_t>> ToInt64(const NpyArray& array);
absl::StatusOr<std::vector<std::string>> ToTexts(const NpyArray& array);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_NPY_H_

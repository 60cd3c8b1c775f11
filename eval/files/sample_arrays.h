// Samples from arrays in memory, for example NumPy's.
#ifndef OPENSET_EVAL_FILES_SAMPLE_ARRAYS_H_
#define OPENSET_EVAL_FILES_SAMPLE_ARRAYS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/files/score_file.h"

namespace openset {

// An array that the caller owns.
struct ArrayView {
  std::string name;              // of a field of ScoreFile, as files name it: "logits", "group"
  std::string type;              // of its elements, as NumPy writes it: "<f4"
  int64_t item_bytes = 0;        // of an element
  const void* data = nullptr;    // may be null if there are no elements
  std::vector<int64_t> shape;    // empty: a single value
  std::vector<int64_t> strides;  // [rank], bytes from an element to the next; empty: row-major
};

// The same as for a file with these arrays. Row-major, aligned arrays of float32 (logits, features), float64
// (unknown_score) and int64 (label, prediction, group) are not copied: they must outlive the result and everything
// derived from it. Others are copied and converted. Errors, kInvalidArgument with `name`: an unknown or duplicate array
// name; invalid strides, sizes or pointers; arrays that a file may not have either (ScoreFileOf() in
// eval/files/score_file.h).
absl::StatusOr<ScoreFile> ScoreFileOfArrays(const std::string& name, absl::Span<const ArrayView> arrays,
                                            ScoreDirection direction = ScoreDirection::kHigherIsUnknown);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_SAMPLE_ARRAYS_H_

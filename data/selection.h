// The samples of a selection among the images of its part.
#ifndef OPENSET_DATA_SELECTION_H_
#define OPENSET_DATA_SELECTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "data/sample_index.h"
#include "data/task.pb.h"

namespace openset {

// Places among a class's samples, in the order in which they are stored; empty if begin == end.
struct SampleRange {
  int64_t begin;
  int64_t end;
};

// What a selection takes of a class that has `samples` samples.
SampleRange RangeOfClass(const Selection& selection, int64_t samples);

// N samples in the order in which they are stored.
struct SelectedSamples {
  std::vector<int64_t> index;  // [N], places in the part's index, ascending
  std::vector<int64_t> label;  // [N], places of their classes in the selection's list

  int64_t size() const { return static_cast<int64_t>(index.size()); }
};

// The samples of `index`, which must be that of the selection's part: of each class those that its bounds leave
// (Selection in task.proto). Errors, kInvalidArgument: a class is listed twice or has no sample, or none is left of it.
absl::StatusOr<SelectedSamples> SelectSamples(const SampleIndex& index, const Selection& selection);

}  // namespace openset

#endif  // OPENSET_DATA_SELECTION_H_

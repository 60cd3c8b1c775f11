// The samples of a selection among the images of its part.
#ifndef OPENSET_DATA_SELECTION_H_
#define OPENSET_DATA_SELECTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "data/sample_index.h"
#include "data/task.pb.h"

namespace openset {

// `part` and `more`.
std::vector<PartOfDataSet> PartsOf(const Selection& selection);

// Samples of a class of `samples` that are in the selection's fold; all without one.
int64_t FoldSamples(const Selection& selection, int64_t samples);

// Places among a class's samples, in the selection's order; empty if begin == end.
struct SampleRange {
  int64_t begin;
  int64_t end;
};

// What a selection takes of a class that has `samples` samples in its fold.
SampleRange RangeOfClass(const Selection& selection, int64_t samples);

// N samples in the selection's order.
struct SelectedSamples {
  std::vector<int64_t> index;  // [N], places in the index; ascending unless they are listed in another order
  std::vector<int64_t>
      label;  // [N], places of their classes in the selection's list, or what `label` says in their place

  int64_t size() const { return static_cast<int64_t>(index.size()); }
};

// What the selection takes of `index`, which must be that of its parts, one behind the other.
// Errors, kInvalidArgument: a class is listed twice or has no sample, or none is left of it (unless some are drawn); a
// listed sample is not there, of no listed class, or listed twice; a fold that there is not; labels that are not one
// for each class.
absl::StatusOr<SelectedSamples> SelectSamples(const SampleIndex& index, const Selection& selection);

}  // namespace openset

#endif  // OPENSET_DATA_SELECTION_H_

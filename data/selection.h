// Finds the samples of a selection in its parts.
#ifndef OPENSET_DATA_SELECTION_H_
#define OPENSET_DATA_SELECTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "data/catalog.pb.h"
#include "data/image_source.h"
#include "data/task.pb.h"

namespace openset {

// `part` and `more`.
std::vector<PartOfDataSet> PartsOf(const Selection& selection);

// What is tested: the known samples, then each group of unknown and of shifted ones.
std::vector<const Selection*> TestSelections(const TaskData& data);

// Leaves only the file's name in "features:/PATH", the name of a data set, for records, which others read; part_digest
// identifies the file's content, and no key covers its path. "folder:/PATH" stays, because keys cover it.
void KeepFileNames(TaskData* data);

// Returns how many of a class's `samples` samples are in the selection's fold; all of them if it has no fold.
int64_t FoldSamples(const Selection& selection, int64_t samples);

// Positions among a class's samples, in the selection's order; empty if begin == end.
struct SampleRange {
  int64_t begin;
  int64_t end;
};

// Returns which samples of a class a selection uses, if `samples` of that class are in its fold.
SampleRange RangeOfClass(const Selection& selection, int64_t samples);

// Whether the selection has a fold, or samples for validation are left out or used. If the parts have clusters, which
// stay whole, FoldSamples() and RangeOfClass() are estimates.
bool DividesClasses(const Selection& selection);

// N samples in the selection's order.
struct SelectedSamples {
  std::vector<int64_t> index;  // [N], positions in the index; ascending unless the selection lists another order
  // [N], positions of their classes in the selection's list, or their values of Selection.label if it is set.
  std::vector<int64_t> label;
  std::vector<int64_t> cluster;  // [N], SampleIndex.cluster of each; empty if the index has none

  int64_t size() const { return static_cast<int64_t>(index.size()); }
};

// Returns the samples that the selection chooses from `index`, which must be the joined index of its parts. Errors:
// kInvalidArgument if a class is listed twice; if a class has no sample, or none is left (unless samples are drawn, or
// a file of arrays has none: tasks check what needs samples); if a listed sample does not exist, is of a class that
// is not listed, or is listed twice; if the fold does not exist; if there is not one label for each class; if a class
// has too few clusters for each fold, or for validation and training, to get one. `info`, unless it is null, has the
// names of the classes for errors.
absl::StatusOr<SelectedSamples> SelectSamples(const SampleIndex& index, const Selection& selection,
                                              const DataSetInfo* info = nullptr);

}  // namespace openset

#endif  // OPENSET_DATA_SELECTION_H_

// Makes a catalog entry for a file of features that is in no catalog.
#ifndef OPENSET_DATA_SETS_FEATURE_DATA_SET_H_
#define OPENSET_DATA_SETS_FEATURE_DATA_SET_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"
#include "data/task.pb.h"

namespace openset {

// The prefix of such a data set's name in tasks: "features:clip.npz".
inline constexpr absl::string_view kFeaturesPrefix = "features:";

// Returns the catalog entry of a file of features (data/readers/feature_file.h). Its classes are the file's known ones,
// then a class for each group of unknown samples. Its parts are the file's; without parts in the file, they are "train"
// and "test", which share each class's known samples, "all", and one for each group. The entry contains the file's
// SHA-256, so that changed files count as other data. `path` is absolute. Errors, with the path: a read error
// (core/files/system_calls.h); kDataLoss also for a file that is corrupt or not an archive; kInvalidArgument, with the
// array, for arrays that are not as described there.
absl::StatusOr<DataSetInfo> DescribeFeatures(const std::string& name, const std::string& path);

// Whether the samples of a data set are feature vectors, not images.
bool HasFeatures(const DataSetInfo& info);

// Of such an entry: the number of known classes, the first ones.
int KnownClasses(const DataSetInfo& info);
// Adds a source of unknowns for each group that is a part of a file without an array `part`.
void AddUnknownGroups(const DataSetInfo& info, TaskSpec* task);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_FEATURE_DATA_SET_H_

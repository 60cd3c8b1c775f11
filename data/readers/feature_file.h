// Reads feature vectors, labels, parts and clusters of samples from a NumPy archive.
#ifndef OPENSET_DATA_READERS_FEATURE_FILE_H_
#define OPENSET_DATA_READERS_FEATURE_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/readers/image_folder.h"

namespace openset {

// The only part of the known samples of a file without an array `part`.
inline constexpr char kAllSamples[] = "all";

// N samples in the file's order.
struct FeatureArrays {
  int64_t dim = 0;              // D; 0: the file has no features
  std::vector<float> features;  // [N, D]
  // The C known classes, then one class for each group of unknown samples.
  std::vector<std::string> class_names;
  int32_t known_classes = 0;            // C
  std::vector<int32_t> class_id;        // [N]
  std::vector<std::string> part_names;  // in the order of their names
  std::vector<int32_t> part;            // [N], index into part_names
  std::vector<int64_t> cluster;         // [N], or empty
};

// Reads an .npz with these arrays; others are ignored.
//   * `label` [N]: class ids 0 to C - 1, -1 for unknown samples; or texts, the names of classes, "" for unknown
//     samples. With `logits` and `class_names`, each text is one of class_names, "unknown" or "";
//   * `features` [N, D], finite numbers; without it, the file is only good for its labels;
//   * `part` [N], texts ("train", "test"). Without it, the known samples are of the part "all", and the unknown ones of
//     a part with the name of their group;
//   * `group` [N], texts, or numbers of `group_names`; counts for unknown samples only. Without it, the group of all of
//     them is "unknown";
//   * `cluster` [N], whole numbers or texts: samples with the same one belong together;
//   * `class_names` [C], texts, in the order of numeric labels and of logits. Without it, the names are the numbers.
//     C is `num_classes`, otherwise the columns of `logits`, otherwise the largest label + 1.
// Errors, with the path, the array and the row: a read error (core/files/system_calls.h); kDataLoss also for a file
// that is corrupt or not an archive; kInvalidArgument for arrays of other shapes or types, no known sample, a label or
// group out of range, a value of `features` that is not finite, a text with control codes, and a group with the name
// of a class.
absl::StatusOr<FeatureArrays> ReadFeatureFile(const std::string& path);

// The rows of a part, in the file's order; with `share`, one share of each class of the part `kAllSamples`
// (PlacesOfShare() in data/readers/image_folder.h, by the class's name). If there are clusters, each is whole in one
// share: a class's clusters are shuffled instead of its samples, and go to the test share until it has as many samples
// as without clusters, or more; a cluster of several classes stays where the first class put it.
std::vector<int64_t> RowsOfPart(const FeatureArrays& arrays, const std::string& part,
                                const ImageFolderOptions::Share* share);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_FEATURE_FILE_H_

// The content hash of a split.
#ifndef OPENSET_DATA_SPLITS_SPLIT_DIGEST_H_
#define OPENSET_DATA_SPLITS_SPLIT_DIGEST_H_

#include <string>

#include "data/task.pb.h"

namespace openset {

// Returns the SHA-256, in hexadecimal, of the training, test and shifted selections: data sets, parts and their
// digests, known classes in the order of their labels, unknown ones by group, folds, draws. Excludes what a study sets
// besides the split: limits per class, validation samples, and the external images, which most methods do not see.
// Splits with equal hashes have the same known and unknown samples.
std::string SplitDigest(const TaskData& data);

// The same for known and unknown classes in any order: splits with equal hashes are one draw of classes, although the
// networks' outputs may have another order.
std::string DrawDigest(const TaskData& data);

}  // namespace openset

#endif  // OPENSET_DATA_SPLITS_SPLIT_DIGEST_H_

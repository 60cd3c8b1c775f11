// The IDX format of MNIST: a big-endian magic number (00 00 08 D: unsigned bytes in D dimensions), the D sizes, the
// data.
#ifndef OPENSET_DATA_READERS_IDX_H_
#define OPENSET_DATA_READERS_IDX_H_

#include <string>

#include "absl/status/statusor.h"
#include "data/image_set.h"

namespace openset {

// Grey images [N, height, width] and their labels [N], each file plain or gzipped. Memory is taken for what the files
// hold, not for what their headers declare.
// Errors, with the file: kNotFound if it can't be opened; kDataLoss if it is no IDX file of that kind, if the header
// and the length of the data disagree, or if the two files hold different numbers of samples.
absl::StatusOr<ImageSet> ReadIdx(const std::string& images_path, const std::string& labels_path);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IDX_H_

// Reads the IDX format of MNIST: a big-endian magic number (00 00 08 D: unsigned bytes in D dimensions), the D sizes,
// the data.
#ifndef OPENSET_DATA_READERS_IDX_H_
#define OPENSET_DATA_READERS_IDX_H_

#include <string>

#include "absl/status/statusor.h"
#include "data/image_source.h"

namespace openset {

// Returns grey images [N, height, width] and their labels [N]. Each file may be plain or gzipped. Allocates memory for
// what the files contain, not for what their headers declare. Errors, with the file: a read error
// (core/files/system_calls.h); kDataLoss also if it is not an IDX file of that kind, if the header and the length of
// the data disagree, or if the two files have different numbers of samples.
absl::StatusOr<ImageSet> ReadIdx(const std::string& images_path, const std::string& labels_path);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IDX_H_

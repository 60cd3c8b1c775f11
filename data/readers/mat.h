// Reads MATLAB files of version 5 (the format of SVHN's 32 x 32 images).
//
// A file is a header of 128 bytes and then elements, each with a type, a length and data. An array is an element, or is
// inside a compressed element. This reader supports only what image sets use. The C library matio is not used, because
// it allocates memory for whatever a header claims, and needs HDF5.
#ifndef OPENSET_DATA_READERS_MAT_H_
#define OPENSET_DATA_READERS_MAT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "data/image_source.h"

namespace openset {

// The limit on a file's size, and on the size of all its inflated arrays together: twice what SVHN's largest needs.
inline constexpr int64_t kMaxMatBytes = int64_t{1} << 32;

// Returns the images in the array `images`, unsigned bytes [height, width, channels, samples] in column-major order,
// with the labels in the array `labels`: one number for each sample, in the same order (of any type, however it is
// stored), which must be whole and 0 to 2^31 - 1. Errors: a read error (core/files/system_calls.h); kDataLoss, with the
// file and the offset, if it is not such a file, truncated or corrupt, if an array is missing or of another type, or if
// sizes and data disagree. Allocates memory only for what the file actually contains, inflated.
absl::StatusOr<ImageSet> ReadMat(const std::string& path, const std::string& images, const std::string& labels,
                                 int64_t max_bytes = kMaxMatBytes);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_MAT_H_

// MATLAB files of version 5 (the format of SVHN's 32 x 32 images).
//
// A header of 128 bytes, then elements of a type, a length and data; arrays are elements of their own or lie in
// compressed ones. Our own reader of the part that image sets use: matio, the C library, takes memory for what a header
// claims, and brings HDF5 with it.
#ifndef OPENSET_DATA_READERS_MAT_H_
#define OPENSET_DATA_READERS_MAT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "data/image_set.h"

namespace openset {

// What a file may have, and its compressed arrays may inflate to together: SVHN's largest take half of it.
inline constexpr int64_t kMaxMatBytes = int64_t{1} << 32;

// The images in the array `images`, unsigned bytes [height, width, channels, samples] in column-major order, with the
// labels in the array `labels`, as many numbers (of any type, stored in whichever) that are whole and 0 to 2^31 - 1; in
// that order of the samples.
// Errors, with the file and the offset: kNotFound if it can't be opened; kDataLoss if it is no such file, cut short or
// damaged, if an array is missing or of another type, or if sizes and data disagree. No more memory is taken than what
// the file really holds, inflated.
absl::StatusOr<ImageSet> ReadMat(const std::string& path, const std::string& images, const std::string& labels,
                                 int64_t max_bytes = kMaxMatBytes);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_MAT_H_

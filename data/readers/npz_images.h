// Reads images and labels in NumPy archives.
#ifndef OPENSET_DATA_READERS_NPZ_IMAGES_H_
#define OPENSET_DATA_READERS_NPZ_IMAGES_H_

#include <string>

#include "absl/status/statusor.h"
#include "data/image_source.h"

namespace openset {

// Returns the images in the array `images` of one archive: unsigned bytes [N, height, width] or [N, height, width,
// channels] with 1 or 3 channels; and the labels in the array `labels` of another archive or the same one: N whole
// numbers from 0 to 2^31 - 1, [N] or [N, 1]. Errors, with the file: a read error (core/files/system_calls.h); kDataLoss
// also for a file that is corrupt or not an archive, if an array is missing or of another kind, or if the numbers of
// images and labels differ; kInvalidArgument for an array of a type that is not read (core/files/formats/npy.h), and
// for labels that are not whole numbers.
absl::StatusOr<ImageSet> ReadNpzImages(const std::string& images_path, const std::string& labels_path,
                                       const std::string& images, const std::string& labels);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_NPZ_IMAGES_H_

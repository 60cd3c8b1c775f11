// Reads sheets: PNG images with one sample in each row, with the labels in a JSON array.
#ifndef OPENSET_DATA_READERS_IMAGES_PNG_SHEET_H_
#define OPENSET_DATA_READERS_IMAGES_PNG_SHEET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/image_source.h"

namespace openset {

// Returns colour images. A sheet is an 8-bit RGB PNG without interlacing, height * width pixels wide; pixel y * width +
// x of a row is the sample's pixel (y, x). `labels_path` is a JSON array with one number from 0 to 2^31 - 1 for each
// row of all sheets in order. Errors, with the file: a read error (core/files/system_calls.h); kDataLoss also if it is
// not such a PNG or JSON file, or corrupt, or if there are more or fewer rows than labels. Allocates memory only as the
// number of labels, `height` and `width` require.
absl::StatusOr<ImageSet> ReadPngSheets(const std::vector<std::string>& sheet_paths, const std::string& labels_path,
                                       int64_t height, int64_t width);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGES_PNG_SHEET_H_

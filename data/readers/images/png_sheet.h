// Sheets: PNG images that hold one sample per row, with the labels in a JSON array.
#ifndef OPENSET_DATA_READERS_IMAGES_PNG_SHEET_H_
#define OPENSET_DATA_READERS_IMAGES_PNG_SHEET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/image_set.h"

namespace openset {

// Colour images. A sheet is an 8-bit RGB PNG without interlacing, height * width pixels wide; pixel y * width + x of a
// row is the sample's pixel (y, x). `labels_path` is a JSON array of one number from 0 to 2^31 - 1 for each row of all
// sheets in order.
// Errors, with the file: kNotFound if it can't be opened; kDataLoss if it is no PNG or JSON of that kind, damaged, or
// if there are more or fewer rows than labels. No more memory is taken than the labels and `height`, `width` ask for.
absl::StatusOr<ImageSet> ReadPngSheets(const std::vector<std::string>& sheet_paths, const std::string& labels_path,
                                       int64_t height, int64_t width);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGES_PNG_SHEET_H_

// Contact sheets: images side by side, for users to look at.
#ifndef OPENSET_DATA_INSPECT_CONTACT_SHEET_H_
#define OPENSET_DATA_INSPECT_CONTACT_SHEET_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/image_source.h"

namespace openset {

struct SheetRow {
  std::array<uint8_t, 3> colour;  // of the mark at the row's left
  std::vector<Image> images;      // of 1 or 3 channels
};

// Returns an 8-bit RGB image with a row of tiles for each row. Tiles are `tile` pixels high and wide, with 2 white
// pixels between them; each row begins with a mark 6 pixels wide. Images keep their aspect ratio: the longer side fills
// the tile, and the rest of it is white; so is the tile of an image without pixels. Precondition: tile > 0.
Image MakeContactSheet(const std::vector<SheetRow>& rows, int tile);

// Returns the bytes of a PNG file. Precondition: 3 channels, no side is 0.
absl::StatusOr<std::string> EncodePng(const Image& image);

// Returns the image resized to `height` and `width`: each pixel is the mean of the pixels that it covers, weighted by
// area, or the nearest pixel where the image is enlarged. Precondition: no side is 0.
Image Scale(const Image& image, int64_t height, int64_t width);

}  // namespace openset

#endif  // OPENSET_DATA_INSPECT_CONTACT_SHEET_H_

// Images side by side, to look at.
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
  std::array<uint8_t, 3> colour;  // of the mark at its left
  std::vector<Image> images;      // of 1 or 3 channels
};

// An 8-bit RGB image: a row of tiles for each row, `tile` pixels high and wide with 2 white pixels between, with a mark
// 6 pixels wide at the left. Images keep their shape: the longer side fills the tile, and what is left of it is white.
// Precondition: tile > 0.
Image MakeContactSheet(const std::vector<SheetRow>& rows, int tile);

// The bytes of a PNG file. Precondition: 3 channels, no side is 0.
absl::StatusOr<std::string> EncodePng(const Image& image);

// The image with another height and width: each pixel is the mean of those it covers, weighted by area; the nearest one
// where it is enlarged. Precondition: no side is 0.
Image Scale(const Image& image, int64_t height, int64_t width);

}  // namespace openset

#endif  // OPENSET_DATA_INSPECT_CONTACT_SHEET_H_

// Images out of the bytes of a PNG, JPEG or WebP file.
#ifndef OPENSET_DATA_READERS_IMAGES_DECODE_IMAGE_H_
#define OPENSET_DATA_READERS_IMAGES_DECODE_IMAGE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/image_source.h"

namespace openset {

// The image with 1 channel (colours become ITU-R 601 luma, as Pillow's convert("L")) or 3 (grey is repeated, as
// Pillow's convert("RGB")). The format is told by the first bytes. Transparency is ignored, 16-bit values keep their
// upper 8 bits, CMYK is taken to be inverted, as Adobe writes it. With `exif_orientation`, a JPEG image is turned and
// mirrored as the orientation (1 to 8) of its EXIF data says, as Pillow's ImageOps.exif_transpose does; otherwise it is
// taken as it is stored. Errors: kDataLoss for what is none of these, damaged, cut short, larger than 2^26 pixels, said
// to have more pixels than so many bytes can hold, which are never allocated, or a JPEG image of more than 100 scans.
// Precondition: channels is 1 or 3.
absl::StatusOr<Image> DecodeImage(absl::string_view bytes, int64_t channels, bool exif_orientation = false);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGES_DECODE_IMAGE_H_

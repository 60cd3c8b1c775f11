// Decodes TIFF files, by libtiff.
#ifndef OPENSET_DATA_READERS_IMAGES_DECODE_TIFF_H_
#define OPENSET_DATA_READERS_IMAGES_DECODE_TIFF_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/readers/images/stored_pixels.h"

namespace openset {

// Whether the first bytes are those of a TIFF file.
bool IsTiff(absl::string_view bytes);

// Returns the first image of the file in 3 channels, as it is stored, and its orientation. Alpha is ignored, and 16-bit
// values keep their upper 8 bits. Reads what libtiff's TIFFRGBAImage reads (1 to 16 bits; grey, palette, RGB, CMYK,
// YCbCr; strips and tiles) without compression or with PackBits, LZW, Deflate, JPEG or CCITT. Errors: kDataLoss as
// DecodeImage().
absl::StatusOr<Interleaved> DecodeTiff(absl::string_view bytes);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGES_DECODE_TIFF_H_

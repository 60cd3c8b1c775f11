// Decodes the simple formats: Windows bitmaps (BMP), and the portable formats of Netpbm (PBM, PGM, PPM).
#ifndef OPENSET_DATA_READERS_IMAGES_DECODE_BITMAP_H_
#define OPENSET_DATA_READERS_IMAGES_DECODE_BITMAP_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/readers/images/stored_pixels.h"

namespace openset {

// Whether the first bytes are those of the format.
bool IsBmp(absl::string_view bytes);
bool IsPnm(absl::string_view bytes);

// Reads bitmaps of 1, 4, 8, 16, 24 and 32 bits, run-length encoded ones, and those of OS/2. Alpha is ignored. Errors:
// kDataLoss as DecodeImage().
absl::StatusOr<Interleaved> DecodeBmp(absl::string_view bytes);

// Reads the first image of P1 to P6. Values of up to 65535 are scaled to 255 and rounded. Errors: kDataLoss as
// DecodeImage().
absl::StatusOr<Interleaved> DecodePnm(absl::string_view bytes);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGES_DECODE_BITMAP_H_

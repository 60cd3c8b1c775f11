// Decodes GIF files, by giflib.
#ifndef OPENSET_DATA_READERS_IMAGES_DECODE_GIF_H_
#define OPENSET_DATA_READERS_IMAGES_DECODE_GIF_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/readers/images/stored_pixels.h"

namespace openset {

// Whether the first bytes are those of a GIF file.
bool IsGif(absl::string_view bytes);

// Returns the first frame on its canvas, in 3 channels. Transparent pixels have their colour of the palette, as by
// Pillow's convert("RGB"). Errors: kDataLoss as DecodeImage().
absl::StatusOr<Interleaved> DecodeGif(absl::string_view bytes);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGES_DECODE_GIF_H_

// Decodes image files.
#ifndef OPENSET_DATA_READERS_IMAGES_DECODE_IMAGE_H_
#define OPENSET_DATA_READERS_IMAGES_DECODE_IMAGE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/image_source.h"

namespace openset {

// ---- Splits pixels of three bytes into three planes.

// u8 [count, 3] -> three times u8 [count]. Converts sixteen pixels at a time if the processor has SSSE3.
void SplitColours(const uint8_t* pixels, int64_t count, uint8_t* red, uint8_t* green, uint8_t* blue);

// ---- Decodes image files.

// The largest file that is read: four times the memory of the largest image that DecodeImage() accepts.
inline constexpr int64_t kMaxImageFileBytes = int64_t{1} << 30;

// Returns the image with 1 channel (colours are converted to ITU-R 601 luma, as by Pillow's convert("L")) or 3 (grey is
// repeated, as by Pillow's convert("RGB")). The format is recognised by the first bytes: PNG, JPEG, WebP, TIFF, GIF,
// BMP or PNM (PBM, PGM, PPM). Of several images or frames, the first one is taken. Transparency is ignored, 16-bit
// values keep their upper 8 bits (PNM: they are rounded), and CMYK in a JPEG file is assumed to be inverted, as Adobe
// writes it. With `exif_orientation`, an image is rotated and mirrored as the orientation (1 to 8) in the EXIF data of
// a JPEG, PNG or WebP file or in a TIFF file says, as by Pillow's ImageOps.exif_transpose; otherwise it is returned as
// it is stored. Errors: kDataLoss if the bytes have none of these formats, or are corrupt or truncated; if the image
// has more than 2^26 pixels, or claims more pixels than its bytes can encode (they are never allocated); or for a JPEG
// image of more than 100 scans. Precondition: channels is 1 or 3.
absl::StatusOr<Image> DecodeImage(absl::string_view bytes, int64_t channels, bool exif_orientation = false);

// Checks an image file by its first and last bytes, which say the format and that the file is not cut short. Decodes it
// if they don't, so that an error is always one of DecodeImage(), with the path. Damage between them is not found.
// Errors: a read error (core/files/system_calls.h); kDataLoss as DecodeImage().
absl::Status CheckImageFile(const std::string& path);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGES_DECODE_IMAGE_H_

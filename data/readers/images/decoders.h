// The decoders of image formats, what they return, and the checks that they share. DecodeImage() itself decodes PNG,
// JPEG and WebP.
#ifndef OPENSET_DATA_READERS_IMAGES_DECODERS_H_
#define OPENSET_DATA_READERS_IMAGES_DECODERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace openset {

inline constexpr int64_t kMaxImagePixels = int64_t{1} << 26;

// Rows of pixels.
struct Interleaved {
  int64_t channels = 0;  // 1 or 3
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> pixels;  // [H, W, C]
  int orientation = 1;          // 1 to 8, as in EXIF data, where the format itself says it
};

inline absl::Status DamagedImageStatus(absl::string_view format, absl::string_view what) {
  return absl::DataLossError(absl::StrCat("not a valid ", format, " image (", what, ")"));
}

// Checks an image's size. `most` is the number of pixels that the bytes can encode; `at` is the byte at or after the
// size.
inline absl::Status CheckImageSize(absl::string_view format, int64_t height, int64_t width, int64_t most, size_t at) {
  const bool is_small = height > 0 && width > 0 && height <= kMaxImagePixels && width <= kMaxImagePixels;
  if (is_small && height * width <= kMaxImagePixels && height * width <= most) return absl::OkStatus();
  return DamagedImageStatus(format, absl::StrCat("it claims to be ", width, " x ", height, " pixels, at byte ", at));
}

// Whether a file of the format can begin so.
bool IsBmp(absl::string_view bytes);
bool IsPnm(absl::string_view bytes);
bool IsGif(absl::string_view bytes);
bool IsTiff(absl::string_view bytes);

// Errors of all: kDataLoss as DecodeImage().

// Reads bitmaps of Windows (1, 4, 8, 16, 24 and 32 bits, also run-length encoded) and of OS/2. Alpha is ignored.
absl::StatusOr<Interleaved> DecodeBmp(absl::string_view bytes);

// Reads the first image of Netpbm's P1 to P6. Values of up to 65535 are scaled to 255 and rounded.
absl::StatusOr<Interleaved> DecodePnm(absl::string_view bytes);

// By giflib. Returns the first frame on its canvas, in 3 channels. Transparent pixels have their colour of the palette,
// as by Pillow's convert("RGB").
absl::StatusOr<Interleaved> DecodeGif(absl::string_view bytes);

// By libtiff. Returns the first image of the file in 3 channels, as it is stored, and its orientation. Alpha is
// ignored, and 16-bit values keep their upper 8 bits. Reads what libtiff's TIFFRGBAImage reads (1 to 16 bits; grey,
// palette, RGB, CMYK, YCbCr; strips and tiles) without compression or with PackBits, LZW, Deflate, JPEG or CCITT.
absl::StatusOr<Interleaved> DecodeTiff(absl::string_view bytes);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGES_DECODERS_H_

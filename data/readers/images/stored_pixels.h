// What the decoders of image formats return, and the checks that they share.
#ifndef OPENSET_DATA_READERS_IMAGES_STORED_PIXELS_H_
#define OPENSET_DATA_READERS_IMAGES_STORED_PIXELS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
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

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGES_STORED_PIXELS_H_

// The size of an image.
#ifndef OPENSET_DATA_AUGMENT_PIXELS_PIXEL_SIZE_H_
#define OPENSET_DATA_AUGMENT_PIXELS_PIXEL_SIZE_H_

#include <cstdint>

namespace openset {

// In pixels.
struct PixelSize {
  int64_t height, width;

  int64_t pixels() const { return height * width; }
};

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_PIXEL_SIZE_H_

// A random part of an image (Szegedy et al. 2015), as torchvision's RandomResizedCrop draws it.
#ifndef OPENSET_DATA_AUGMENT_CROP_WINDOW_H_
#define OPENSET_DATA_AUGMENT_CROP_WINDOW_H_

#include <cstdint>

#include "core/random.h"
#include "data/augment/augment.pb.h"

namespace openset {

// In pixels.
struct CropWindow {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;
};

// Draws the window's share of the area from U(min_area, max_area) and the logarithm of its ratio of width to height
// from U(log min_ratio, log max_ratio). They give its sides, rounded (halves to even). If the window fits in an image
// of `height` x `width`, draws its top and then its left uniformly; otherwise tries again. After ten windows that don't
// fit, returns the largest central window whose ratio is within the limits, at least 1 pixel high and wide.
CropWindow DrawCropWindow(const RandomResizedCropSpec& spec, int64_t height, int64_t width, RandomStream* random);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_CROP_WINDOW_H_

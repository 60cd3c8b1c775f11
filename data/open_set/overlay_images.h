// Open-set source: means of two images of different classes, as OverlayImagesSpec in open_set.proto says. Each step has
// ceil(share * B) images, or none if the batch has one class. Source: w4k2/torchosr, models/OverlaySoftmax.
#ifndef OPENSET_DATA_OPEN_SET_OVERLAY_IMAGES_H_
#define OPENSET_DATA_OPEN_SET_OVERLAY_IMAGES_H_

#include <memory>

#include "core/tensor/open_set.h"
#include "data/open_set/open_set.pb.h"

namespace openset {

std::unique_ptr<OpenSetSource> MakeOverlayImages(const OverlayImagesSpec& spec);

}  // namespace openset

#endif  // OPENSET_DATA_OPEN_SET_OVERLAY_IMAGES_H_

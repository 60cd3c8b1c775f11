// Open-set source: means of two images of different classes, as OverlayImagesSpec in open_set.proto says.
// ceil(share * B) images a step; none for a batch of one class. Source: w4k2/torchosr, models/OverlaySoftmax.
#ifndef OPENSET_DATA_OPEN_SET_OVERLAY_IMAGES_H_
#define OPENSET_DATA_OPEN_SET_OVERLAY_IMAGES_H_

#include <memory>

#include "core/tensor/open_set.h"
#include "data/open_set/open_set.pb.h"

namespace openset {

std::unique_ptr<OpenSetSource> MakeOverlayImages(const OverlayImagesSpec& spec);

}  // namespace openset

#endif  // OPENSET_DATA_OPEN_SET_OVERLAY_IMAGES_H_

// Open-set source: mixtures of the batch's images with the same images in a random order, as MixedImagesSpec in
// open_set.proto says. slot is i, partner the label of the image that i is mixed with; all have the same share. The
// order is drawn before the share.
#ifndef OPENSET_DATA_OPEN_SET_MIXED_IMAGES_H_
#define OPENSET_DATA_OPEN_SET_MIXED_IMAGES_H_

#include <memory>

#include "core/tensor/open_set.h"
#include "data/open_set/open_set.pb.h"

namespace openset {

std::unique_ptr<OpenSetSource> MakeMixedImages(const MixedImagesSpec& spec);

}  // namespace openset

#endif  // OPENSET_DATA_OPEN_SET_MIXED_IMAGES_H_

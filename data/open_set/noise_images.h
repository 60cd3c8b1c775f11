// Open-set source: images of noise, as NoiseImagesSpec in open_set.proto says. Each step has floor(share * B) images of
// the batch's shape. Source: w4k2/torchosr, models/NoiseSoftmax.
#ifndef OPENSET_DATA_OPEN_SET_NOISE_IMAGES_H_
#define OPENSET_DATA_OPEN_SET_NOISE_IMAGES_H_

#include <memory>

#include "core/tensor/open_set.h"
#include "data/open_set/open_set.pb.h"

namespace openset {

std::unique_ptr<OpenSetSource> MakeNoiseImages(const NoiseImagesSpec& spec);

}  // namespace openset

#endif  // OPENSET_DATA_OPEN_SET_NOISE_IMAGES_H_

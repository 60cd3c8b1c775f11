// Open-set source: images of an external data set, as ExternalImagesSpec in open_set.proto says. Each step has
// ceil(share * B) images, where B is the size of the current batch or, for FULL_BATCH, of a full one. Source: Hendrycks
// et al. 2019 (outlier-exposure, CIFAR/oe_scratch.py); there, as in the code of the unified benchmark, an epoch ends
// with the known data, so that each epoch sees another part of a large external set.
//
// With `mix` (MixOE, Zhang et al. 2023), image i of the batch is mixed with external image i, until either runs out;
// slot is i and partner -1.
#ifndef OPENSET_DATA_OPEN_SET_EXTERNAL_IMAGES_H_
#define OPENSET_DATA_OPEN_SET_EXTERNAL_IMAGES_H_

#include <memory>

#include "core/tensor/open_set.h"
#include "data/batcher.h"
#include "data/open_set/open_set.pb.h"
#include "data/pipeline.h"

namespace openset {

// `batch_size` is the size of a full batch. Precondition: `images` is not empty; `images` and `pipeline` are for the
// batches' device and format.
std::unique_ptr<OpenSetSource> MakeExternalImages(const ExternalImagesSpec& spec, int batch_size, Batcher images,
                                                  Pipeline pipeline);

}  // namespace openset

#endif  // OPENSET_DATA_OPEN_SET_EXTERNAL_IMAGES_H_

// Open-set source: images of a generator that is trained against a discriminator and the classifier, as described at
// ConfusingImagesSpec in method.proto. All of them count, and none is paired with a known sample.
//
// With f = D(G(noise)) and binary cross entropies, the discriminator minimises -log D(real) - log(1 - f), and the
// generator minimises -log f + the weighted terms on the open set (OpenSetSource::Context::objective). Noise comes from
// the step's stream; the initial values from the training's seed. The generator's images are normalised as the input
// is. Source: iCGY96/ARPL, core/train.py (train_cs).
#ifndef OPENSET_EXPERIMENTS_TRAIN_CONFUSING_IMAGES_H_
#define OPENSET_EXPERIMENTS_TRAIN_CONFUSING_IMAGES_H_

#include <cstdint>
#include <memory>

#include "core/tensor/open_set.h"
#include "core/tensor/torch.h"
#include "experiments/spec/method.proto.h"
#include "models/model.pb.h"

namespace openset {

// Precondition: IsDcganSize(input.size()) (models/networks/dcgan.h).
std::unique_ptr<OpenSetSource> MakeConfusingImages(const ConfusingImagesSpec& spec, const InputSpec& input,
                                                   uint64_t seed, at::Device device);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_CONFUSING_IMAGES_H_

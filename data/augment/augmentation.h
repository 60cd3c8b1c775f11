// The interface of a training transform: batched, on the device of the images.
#ifndef OPENSET_DATA_AUGMENT_AUGMENTATION_H_
#define OPENSET_DATA_AUGMENT_AUGMENTATION_H_

#include "core/random.h"
#include "core/tensor/torch.h"

namespace openset {

// What an augmentation does to the sizes of images.
enum class SizeEffect {
  kKeeps,    // each image keeps its own
  kChanges,  // the new one depends on the old one
  kFixes,    // all become input_size x input_size
};

// Stateless once made, so one object serves a whole training.
class Augmentation {
 public:
  virtual ~Augmentation() = default;

  // u8 [B, C, H, W] (contiguous) -> u8 [B, C, H', W'], each image transformed by its own draws from `random`, in the
  // order of the batch. All random numbers are drawn on the CPU: the result is the same on every device.
  virtual at::Tensor Apply(const at::Tensor& images, RandomStream* random) const = 0;

  virtual SizeEffect size_effect() const { return SizeEffect::kKeeps; }

  // Whether Apply() gives f32 in [0, 255] that is not whole, in the place of u8: then it is the last one.
  virtual bool gives_fractions() const { return false; }
};

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_AUGMENTATION_H_

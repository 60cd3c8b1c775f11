// The interface of a training transform: batched, on the device of the images.
#ifndef OPENSET_DATA_AUGMENT_AUGMENTATION_H_
#define OPENSET_DATA_AUGMENT_AUGMENTATION_H_

#include <cstdint>

#include "core/random.h"
#include "core/tensor/torch.h"
#include "core/tensor/transfer.h"
#include "data/augment/pixels/pixel_size.h"

namespace openset {

// What an augmentation does to the sizes of images.
enum class SizeEffect {
  kKeeps,    // each image keeps its size
  kChanges,  // the new size depends on the old one
  kFixes,    // all become input_size x input_size
};

// Stateless, so one object serves a whole training. The random numbers of all augmentations are drawn on the CPU before
// the first of them is applied, so that one copy takes them to the device and results are the same on every device.
class Augmentation {
 public:
  virtual ~Augmentation() = default;

  // Adds to `staging` the random numbers for `count` images of `size`, drawn image by image in the order of the batch.
  // Adds and draws nothing if the augmentation isn't random; then `random` may be null.
  virtual void Draw(int64_t /*count*/, PixelSize /*size*/, RandomStream* /*random*/, Staging* /*staging*/) const {}

  // u8 [B, C, H, W] (contiguous) -> u8 [B, C, H', W'], each image transformed by its own numbers. Takes from `staging`
  // what Draw() added for these images.
  virtual at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const = 0;

  // Draw(), a copy to the images' device and ApplyDrawn().
  at::Tensor Apply(const at::Tensor& images, RandomStream* random) const {
    Staging staging;
    Draw(images.size(0), {images.size(2), images.size(3)}, random, &staging);
    staging.MoveTo(images.device());
    return ApplyDrawn(images, &staging);
  }

  // H' and W' for images of `size`.
  virtual PixelSize SizeAfter(PixelSize size) const { return size; }

  // The pixels of the largest image that ApplyDrawn() makes, in the end or on the way, of one image of `size`.
  virtual int64_t MostPixels(PixelSize size) const { return SizeAfter(size).pixels(); }

  virtual SizeEffect size_effect() const { return SizeEffect::kKeeps; }

  // Whether ApplyDrawn() returns fractions, f32 in [0, 255], instead of u8. Then no augmentation may follow.
  virtual bool gives_fractions() const { return false; }
};

// Draws for each image whether something applies to it: adds bool [count, 1, 1, 1] to `staging`. One uniform number an
// image.
inline void DrawWhether(double probability, int64_t count, RandomStream* random, Staging* staging) {
  at::Tensor applies = at::empty({count, 1, 1, 1}, at::kBool);
  bool* to = applies.mutable_data_ptr<bool>();
  for (int64_t i = 0; i < count; ++i) to[i] = random->Uniform() < probability;
  staging->Add(applies);
}

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_AUGMENTATION_H_

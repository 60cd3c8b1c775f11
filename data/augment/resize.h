// Resizing to the model's input size.
#ifndef OPENSET_DATA_AUGMENT_RESIZE_H_
#define OPENSET_DATA_AUGMENT_RESIZE_H_

#include <memory>

#include "data/augment/augmentation.h"

namespace openset {

// u8 [B, C, H, W] -> u8 [B, C, size, size], bilinear with antialiasing, as Pillow's BILINEAR. Along a row, the value at
// x is the mean of the pixels around (x + 1/2) W / size, with weights that fall linearly to 0 at a distance of max(1, W
// / size) pixels; it is rounded to the nearest value, halves up; then the same along the columns. Computed in f32:
// equal to Pillow wherever the weights are exact there (28 to 32, 64 to 32), elsewhere at most 1 off, in halves. Images
// of that size already are returned as they are. Draws nothing: `random` may be null.
class Resize : public Augmentation {
 public:
  // Precondition: size >= 1.
  explicit Resize(int size) : size_(size) {}

  at::Tensor Apply(const at::Tensor& images, RandomStream* random) const override;
  SizeEffect size_effect() const override { return SizeEffect::kFixes; }

 private:
  int size_;
};

inline std::unique_ptr<Augmentation> MakeResize(int size) { return std::make_unique<Resize>(size); }

// u8 [B, C, H, W] -> u8 [B, C, H', W'], resized in the same way: the shorter side becomes `shorter_side`, the longer
// one floor(shorter_side * longer / shorter), as in torchvision's Resize(shorter_side).
std::unique_ptr<Augmentation> MakeResizeShorterSide(int shorter_side);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_RESIZE_H_

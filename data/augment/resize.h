// Resizing to the model's input size.
#ifndef OPENSET_DATA_AUGMENT_RESIZE_H_
#define OPENSET_DATA_AUGMENT_RESIZE_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"
#include "data/augment/pixels/pixel_size.h"

namespace openset {

// The pixels of the larger of the two images that resizing makes: that with resized rows, and the result.
inline int64_t MostPixelsOfResize(PixelSize from, PixelSize to) {
  return std::max(PixelSize{from.height, to.width}.pixels(), to.pixels());
}

// u8 [B, C, H, W] -> u8 [B, C, size, size], with antialiasing, as Pillow's BILINEAR or BICUBIC. Along a row, the value
// at x is the mean of the pixels around (x + 1/2) W / size, with weights f(d / s) of their distances d, s = max(1, W /
// size); it is rounded to the nearest value within [0, 255], halves up; then the same along the columns. f(d) is 1 -
// |d| up to 1 for BILINEAR; for BICUBIC (a = -1/2) it is 3/2 |d|^3 - 5/2 d^2 + 1 up to 1 and -1/2 |d|^3 + 5/2 d^2 - 4
// |d| + 2 up to 2. Computed in f32; differs from Pillow's whole numbers by at most 1 (2 where noise is enlarged). For
// some sizes, Pillow 13 resizes the columns first, which gives other values at edges of full contrast. Images that
// already have the size are returned unchanged. Draws nothing.
class Resize : public Augmentation {
 public:
  // Precondition: size >= 1.
  explicit Resize(int size, ResizeSpec::Filter filter = ResizeSpec::BILINEAR) : size_(size), filter_(filter) {}

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const override;
  PixelSize SizeAfter(PixelSize /*size*/) const override { return {size_, size_}; }
  int64_t MostPixels(PixelSize size) const override { return MostPixelsOfResize(size, SizeAfter(size)); }
  SizeEffect size_effect() const override { return SizeEffect::kFixes; }

 private:
  int size_;
  ResizeSpec::Filter filter_;
};

inline std::unique_ptr<Augmentation> MakeResize(int size, ResizeSpec::Filter filter = ResizeSpec::BILINEAR) {
  return std::make_unique<Resize>(size, filter);
}

// u8 [B, C, H, W] -> u8 [B, C, H', W'], resized in the same way: the shorter side becomes `shorter_side`, the longer
// one floor(shorter_side * longer / shorter), as in torchvision's Resize(shorter_side).
std::unique_ptr<Augmentation> MakeResizeShorterSide(int shorter_side, ResizeSpec::Filter filter = ResizeSpec::BILINEAR);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_RESIZE_H_

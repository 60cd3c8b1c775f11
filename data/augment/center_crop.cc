// The window of the model's input size in the middle of the image, as torchvision's CenterCrop.
#include <algorithm>
#include <cmath>
#include <memory>

#include "data/augment/augmentation.h"
#include "data/augment/augmentation_members.h"

namespace openset {
namespace {

class CenterCrop : public Augmentation {
 public:
  explicit CenterCrop(int64_t size) : size_(size) {}

  at::Tensor ApplyDrawn(const at::Tensor& given, Staging* /*staging*/) const override {
    const int64_t rows = std::max<int64_t>(0, size_ - given.size(2));
    const int64_t columns = std::max<int64_t>(0, size_ - given.size(3));
    const at::Tensor images = at::constant_pad_nd(given, {columns / 2, (columns + 1) / 2, rows / 2, (rows + 1) / 2}, 0);
    const auto begin = [&](int64_t side) {
      return static_cast<int64_t>(std::nearbyint(static_cast<double>(side - size_) / 2));
    };
    const int64_t top = begin(images.size(2));
    const int64_t left = begin(images.size(3));
    return images.slice(2, top, top + size_).slice(3, left, left + size_).contiguous();
  }

  PixelSize SizeAfter(PixelSize /*size*/) const override { return {size_, size_}; }
  int64_t MostPixels(PixelSize size) const override {
    return PixelSize{std::max(size.height, size_), std::max(size.width, size_)}.pixels();
  }
  SizeEffect size_effect() const override { return SizeEffect::kFixes; }

 private:
  const int64_t size_;
};

}  // namespace

// u8 [B, C, H, W] -> u8 [B, C, size, size]: its top is (H - size) / 2 and its left (W - size) / 2, halves rounded to
// even. A shorter side is first padded with zeros to `size`; of an odd number of zeros, one more comes after. Draws
// nothing.
std::unique_ptr<Augmentation> Make(const CenterCropSpec&, int input_size) {
  return std::make_unique<CenterCrop>(input_size);
}

}  // namespace openset

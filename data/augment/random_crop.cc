#include "data/augment/random_crop.h"

#include <algorithm>
#include <vector>

#include "core/tensor/to_device.h"

namespace openset {
namespace {

class RandomCrop : public Augmentation {
 public:
  // `input_size`: that of the windows; 0 for the images' own.
  RandomCrop(int padding, int input_size) : padding_(padding), input_size_(input_size) {}

  at::Tensor Apply(const at::Tensor& images, RandomStream* random) const override {
    const int64_t height = input_size_ > 0 ? input_size_ : images.size(2);
    const int64_t width = input_size_ > 0 ? input_size_ : images.size(3);
    // What is missing for one window, on both sides.
    const auto more = [this](int64_t size, int64_t window) {
      return std::max<int64_t>(0, (window - size - 2 * padding_ + 1) / 2);
    };
    const int64_t pad_y = padding_ + more(images.size(2), height), pad_x = padding_ + more(images.size(3), width);
    const uint64_t rows = images.size(2) + 2 * pad_y - height + 1, columns = images.size(3) + 2 * pad_x - width + 1;
    const int64_t n = images.size(0);
    std::vector<int64_t> corner(2 * n);  // the rows of all, then the columns
    for (int64_t i = 0; i < n; ++i) {
      corner[i] = static_cast<int64_t>(random->Below(rows));
      corner[n + i] = static_cast<int64_t>(random->Below(columns));
    }
    const at::Tensor corners = ToDevice(at::tensor(corner, at::kLong).view({2, n}), images.device());
    // Window (b, y, x) is the view [C, H, W] with its corner at (y, x) of padded image b.
    const at::Tensor windows = at::constant_pad_nd(images, {pad_x, pad_x, pad_y, pad_y}, 0)
                                   .unfold(2, height, 1)
                                   .unfold(3, width, 1)
                                   .permute({0, 2, 3, 1, 4, 5});
    return windows.index({at::arange(n, images.options().dtype(at::kLong)), corners[0], corners[1]});
  }

  SizeEffect size_effect() const override { return input_size_ > 0 ? SizeEffect::kFixes : SizeEffect::kKeeps; }

 private:
  const int64_t padding_;
  const int64_t input_size_;
};

}  // namespace

std::unique_ptr<Augmentation> MakeRandomCrop(const RandomCropSpec& spec, int input_size) {
  return std::make_unique<RandomCrop>(spec.padding(), spec.window() == RandomCropSpec::INPUT_SIZE ? input_size : 0);
}

}  // namespace openset

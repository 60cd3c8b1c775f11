#include "data/augment/random_crop.h"

#include <vector>

namespace openset {
namespace {

class RandomCrop : public Augmentation {
 public:
  explicit RandomCrop(const RandomCropSpec& spec) : padding_(spec.padding()) {}

  at::Tensor Apply(const at::Tensor& images, RandomStream* random) const override {
    std::vector<int64_t> top(images.size(0));
    std::vector<int64_t> left(images.size(0));
    for (int64_t i = 0; i < images.size(0); ++i) {
      top[i] = static_cast<int64_t>(random->Below(2 * padding_ + 1));
      left[i] = static_cast<int64_t>(random->Below(2 * padding_ + 1));
    }
    // Window (b, y, x) is the view [C, H, W] with its corner at (y, x) of padded image b.
    const at::Tensor windows = at::constant_pad_nd(images, {padding_, padding_, padding_, padding_}, 0)
                                   .unfold(2, images.size(2), 1)
                                   .unfold(3, images.size(3), 1)
                                   .permute({0, 2, 3, 1, 4, 5});
    return windows.index({at::arange(images.size(0), images.options().dtype(at::kLong)),
                          at::tensor(top, at::kLong).to(images.device()),
                          at::tensor(left, at::kLong).to(images.device())});
  }

 private:
  const int64_t padding_;
};

}  // namespace

std::unique_ptr<Augmentation> MakeRandomCrop(const RandomCropSpec& spec) { return std::make_unique<RandomCrop>(spec); }

}  // namespace openset

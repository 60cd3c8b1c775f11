#include "data/augment/horizontal_flip.h"

#include <vector>

#include "core/tensor/to_device.h"

namespace openset {
namespace {

class HorizontalFlip : public Augmentation {
 public:
  explicit HorizontalFlip(const HorizontalFlipSpec& spec) : probability_(spec.probability()) {}

  at::Tensor Apply(const at::Tensor& images, RandomStream* random) const override {
    std::vector<int64_t> flipped;
    for (int64_t i = 0; i < images.size(0); ++i) {
      if (random->Uniform() < probability_) flipped.push_back(i);
    }
    const at::Tensor index = ToDevice(at::tensor(flipped, at::kLong), images.device());
    return images.index_copy(0, index, images.index_select(0, index).flip(3));
  }

 private:
  const double probability_;
};

}  // namespace

std::unique_ptr<Augmentation> MakeHorizontalFlip(const HorizontalFlipSpec& spec) {
  return std::make_unique<HorizontalFlip>(spec);
}

}  // namespace openset

#include "data/augment/horizontal_flip.h"

#include <vector>

namespace openset {
namespace {

class HorizontalFlip : public Augmentation {
 public:
  explicit HorizontalFlip(const HorizontalFlipSpec& spec) : probability_(spec.probability()) {}

  void Draw(int64_t count, PixelSize /*size*/, RandomStream* random, Staging* staging) const override {
    std::vector<int64_t> flipped;
    for (int64_t i = 0; i < count; ++i) {
      if (random->Uniform() < probability_) flipped.push_back(i);
    }
    staging->Add(at::tensor(flipped, at::kLong));
  }

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const override {
    const at::Tensor index = staging->Next();
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

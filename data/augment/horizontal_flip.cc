// Mirrors each image left to right with a probability.
#include <memory>
#include <vector>

#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"
#include "data/augment/augmentation_members.h"

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

// One uniform number is drawn for each image.
std::unique_ptr<Augmentation> Make(const HorizontalFlipSpec& spec, int /*input_size*/) {
  return std::make_unique<HorizontalFlip>(spec);
}

}  // namespace openset

// Mirrors each image left to right with a probability.
#include <memory>

#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"
#include "data/augment/augmentation_members.h"

namespace openset {
namespace {

class HorizontalFlip : public Augmentation {
 public:
  explicit HorizontalFlip(const HorizontalFlipSpec& spec) : probability_(spec.probability()) {}

  void Draw(int64_t count, PixelSize /*size*/, RandomStream* random, Staging* staging) const override {
    DrawWhether(probability_, count, random, staging);
  }

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const override {
    return at::where(staging->Next(), images.flip(3), images);
  }

 private:
  const double probability_;
};

}  // namespace

std::unique_ptr<Augmentation> Make(const HorizontalFlipSpec& spec, int /*input_size*/) {
  return std::make_unique<HorizontalFlip>(spec);
}

}  // namespace openset

#include "data/augment/random_greyscale.h"

#include <memory>

#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"
#include "data/augment/augmentation_members.h"

namespace openset {
namespace {

class RandomGreyscale : public Augmentation {
 public:
  explicit RandomGreyscale(const RandomGreyscaleSpec& spec) : probability_(spec.probability()) {}

  void Draw(int64_t count, PixelSize /*size*/, RandomStream* random, Staging* staging) const override {
    DrawWhether(probability_, count, random, staging);
  }

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const override {
    const at::Tensor is_grey = staging->Next();
    return images.size(1) == 3 ? at::where(is_grey, Grey(images), images) : images;
  }

 private:
  const double probability_;
};

}  // namespace

at::Tensor Grey(const at::Tensor& images) {
  const at::Tensor wide = images.to(at::kInt);
  const at::Tensor sum = wide.select(1, 0) * 19595 + wide.select(1, 1) * 38470 + wide.select(1, 2) * 7471 + 0x8000;
  return at::bitwise_right_shift(sum, 16).to(at::kByte).unsqueeze(1);
}

std::unique_ptr<Augmentation> Make(const RandomGreyscaleSpec& spec, int /*input_size*/) {
  return std::make_unique<RandomGreyscale>(spec);
}

}  // namespace openset

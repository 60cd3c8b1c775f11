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
    at::Tensor is_flipped = at::empty({count, 1, 1, 1}, at::kBool);
    bool* is = is_flipped.mutable_data_ptr<bool>();
    for (int64_t i = 0; i < count; ++i) is[i] = random->Uniform() < probability_;
    staging->Add(is_flipped);
  }

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const override {
    return at::where(staging->Next(), images.flip(3), images);
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

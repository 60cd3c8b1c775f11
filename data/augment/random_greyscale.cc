// Makes each colour image grey with a probability (torchvision's RandomGrayscale on Pillow images).
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
    at::Tensor is_grey = at::empty({count, 1, 1, 1}, at::kBool);
    bool* is = is_grey.mutable_data_ptr<bool>();
    for (int64_t i = 0; i < count; ++i) is[i] = random->Uniform() < probability_;
    staging->Add(is_grey);
  }

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const override {
    const at::Tensor is_grey = staging->Next();
    if (images.size(1) != 3) return images;
    // ITU-R 601 luma with 16 bits after the point.
    const at::Tensor wide = images.to(at::kInt);
    const at::Tensor sum = wide.narrow(1, 0, 1) * 19595 + wide.narrow(1, 1, 1) * 38470 + wide.narrow(1, 2, 1) * 7471;
    return at::where(is_grey, at::bitwise_right_shift(sum + 0x8000, 16).to(at::kByte), images);
  }

 private:
  const double probability_;
};

}  // namespace

// One uniform number is drawn for each image.
std::unique_ptr<Augmentation> Make(const RandomGreyscaleSpec& spec, int /*input_size*/) {
  return std::make_unique<RandomGreyscale>(spec);
}

}  // namespace openset

// A window of the image's own size, or of the model's input size, at a random position in the image, which is padded
// with zeros.
#include <algorithm>
#include <memory>
#include <vector>

#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"
#include "data/augment/augmentation_members.h"

namespace openset {
namespace {

class RandomCrop : public Augmentation {
 public:
  // `input_size`: of the windows; 0 for the images' own.
  RandomCrop(int padding, int input_size) : padding_(padding), input_size_(input_size) {}

  void Draw(int64_t count, PixelSize size, RandomStream* random, Staging* staging) const override {
    const PixelSize window = SizeAfter(size), padding = PaddingOf(size);
    const uint64_t rows = size.height + 2 * padding.height - window.height + 1;
    const uint64_t columns = size.width + 2 * padding.width - window.width + 1;
    std::vector<int64_t> place(3 * count);  // the images, then the rows of their corners, then the columns
    for (int64_t i = 0; i < count; ++i) {
      place[i] = i;
      place[count + i] = static_cast<int64_t>(random->Below(rows));
      place[2 * count + i] = static_cast<int64_t>(random->Below(columns));
    }
    staging->Add(at::tensor(place, at::kLong).view({3, count}));
  }

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const override {
    const PixelSize size = {images.size(2), images.size(3)}, window = SizeAfter(size);
    const auto [pad_y, pad_x] = PaddingOf(size);
    const at::Tensor place = staging->Next();
    // Window (b, y, x) is the view [C, H, W] with its corner at (y, x) of padded image b.
    const at::Tensor windows = at::constant_pad_nd(images, {pad_x, pad_x, pad_y, pad_y}, 0)
                                   .unfold(2, window.height, 1)
                                   .unfold(3, window.width, 1)
                                   .permute({0, 2, 3, 1, 4, 5});
    return windows.index({place[0], place[1], place[2]});
  }

  PixelSize SizeAfter(PixelSize size) const override {
    return input_size_ > 0 ? PixelSize{input_size_, input_size_} : size;
  }

  int64_t MostPixels(PixelSize size) const override {
    const PixelSize padding = PaddingOf(size);
    return PixelSize{size.height + 2 * padding.height, size.width + 2 * padding.width}.pixels();
  }

  SizeEffect size_effect() const override { return input_size_ > 0 ? SizeEffect::kFixes : SizeEffect::kKeeps; }

 private:
  // The padding of each side: the spec's, plus what is missing for one window.
  PixelSize PaddingOf(PixelSize size) const {
    const PixelSize window = SizeAfter(size);
    const auto more = [this](int64_t size, int64_t window) {
      return std::max<int64_t>(0, (window - size - 2 * padding_ + 1) / 2);
    };
    return {padding_ + more(size.height, window.height), padding_ + more(size.width, window.width)};
  }

  const int64_t padding_;
  const int64_t input_size_;
};

}  // namespace

// The top left corner of the window is uniform on the places of the padded image where it fits, {0, ..., 2 padding}^2
// for the image's own size; for each image its row is drawn, then its column. `input_size` is for windows of that size.
std::unique_ptr<Augmentation> Make(const RandomCropSpec& spec, int input_size) {
  return std::make_unique<RandomCrop>(spec.padding(), spec.window() == RandomCropSpec::INPUT_SIZE ? input_size : 0);
}

}  // namespace openset

#include "data/augment/random_resized_crop.h"

#include <vector>

#include "data/augment/resize.h"
#include "data/augment/resize_crops.h"

namespace openset {
namespace {

class RandomResizedCrop : public Augmentation {
 public:
  RandomResizedCrop(const RandomResizedCropSpec& spec, int input_size) : spec_(spec), input_size_(input_size) {}

  void Draw(int64_t count, PixelSize size, RandomStream* random, Staging* staging) const override {
    std::vector<CropWindow> windows;
    for (int64_t i = 0; i < count; ++i) windows.push_back(DrawCropWindow(spec_, size.height, size.width, random));
    staging->Add(PackCropWindows(windows));
  }

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const override {
    const at::Tensor windows = staging->Next();
    if (!images.is_cpu()) return ResizeCrops(images, windows, input_size_, spec_.filter());
    std::vector<at::Tensor> crops;
    for (int64_t i = 0; i < images.size(0); ++i) {
      crops.push_back(ResizedCrop(images.slice(0, i, i + 1), CropWindowAt(windows, i), input_size_, spec_.filter()));
    }
    return crops.size() == 1 ? crops[0] : at::cat(crops);
  }

  PixelSize SizeAfter(PixelSize /*size*/) const override { return {input_size_, input_size_}; }

  int64_t MostPixels(PixelSize size) const override { return MostPixelsOfResize(size, SizeAfter(size)); }

  SizeEffect size_effect() const override { return SizeEffect::kFixes; }

 private:
  const RandomResizedCropSpec spec_;
  const int input_size_;
};

}  // namespace

at::Tensor ResizedCrop(const at::Tensor& images, const CropWindow& window, int size, ResizeSpec::Filter filter) {
  const at::Tensor crop = images.slice(2, window.top, window.top + window.height)
                              .slice(3, window.left, window.left + window.width)
                              .contiguous();
  return Resize(size, filter).Apply(crop, /*random=*/nullptr);
}

std::unique_ptr<Augmentation> MakeRandomResizedCrop(const RandomResizedCropSpec& spec, int input_size) {
  return std::make_unique<RandomResizedCrop>(spec, input_size);
}

}  // namespace openset

#include "data/augment/resize.h"

#include "data/augment/augmentation_members.h"
#include "data/augment/pixels/resample.h"
#include "data/augment/pixels/resample_weights.h"

namespace openset {

using Filter = ResizeSpec::Filter;

namespace {

// f32, 1/2 more than the values. Bicubic weights may be negative, so that values leave [0, 255].
at::Tensor ResizeValues(const at::Tensor& images, int64_t height, int64_t width, Filter filter) {
  const at::Tensor values = ResizeByLibTorch(images, height, width, filter).add_(0.5);
  return filter == ResizeSpec::BICUBIC ? values.clamp_(0, 255) : values;
}

// u8, rows first, each rounded. The conversion to u8 rounds down, too.
at::Tensor ResizeByValues(const at::Tensor& images, int64_t height, int64_t width, Filter filter) {
  const at::Tensor wide = ResizeValues(images.to(at::kFloat), images.size(2), width, filter).floor_();
  return ResizeValues(wide, height, width, filter).to(at::kByte);
}

// The same by ResamplePlane, on the CPU.
at::Tensor ResizeByPlanes(const at::Tensor& given, int64_t height, int64_t width, Filter filter) {
  const at::Tensor images = given.contiguous();
  const int64_t from_height = images.size(2), from_width = images.size(3);
  const auto rows = WeightsOfLibTorch(from_width, width, filter);
  const auto columns = WeightsOfLibTorch(from_height, height, filter);
  at::Tensor resized = at::empty({images.size(0), images.size(1), height, width}, at::kByte);
  const uint8_t* in = images.const_data_ptr<uint8_t>();
  uint8_t* out = resized.mutable_data_ptr<uint8_t>();
  for (int64_t plane = 0; plane < images.size(0) * images.size(1); ++plane) {
    ResamplePlane(in + plane * from_height * from_width, *rows, *columns, out + plane * height * width);
  }
  return resized;
}

// Narrower planes are summed in another order.
constexpr int64_t kMinSide = 8;

at::Tensor ResizeTo(const at::Tensor& images, int64_t height, int64_t width, Filter filter) {
  if (images.size(2) == height && images.size(3) == width) return images;
  const bool by_planes = images.is_cpu() && images.numel() > 0 && height >= kMinSide && width >= kMinSide;
  return by_planes && CanResampleAsLibTorch() ? ResizeByPlanes(images, height, width, filter)
                                              : ResizeByValues(images, height, width, filter);
}

class ResizeShorterSide : public Augmentation {
 public:
  ResizeShorterSide(int64_t shorter_side, Filter filter) : shorter_side_(shorter_side), filter_(filter) {}

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* /*staging*/) const override {
    const auto [height, width] = SizeAfter({images.size(2), images.size(3)});
    return ResizeTo(images, height, width, filter_);
  }

  PixelSize SizeAfter(PixelSize size) const override {
    const auto [height, width] = size;
    const int64_t longer = shorter_side_ * std::max(height, width) / std::min(height, width);
    return width <= height ? PixelSize{longer, shorter_side_} : PixelSize{shorter_side_, longer};
  }

  int64_t MostPixels(PixelSize size) const override { return MostPixelsOfResize(size, SizeAfter(size)); }

  SizeEffect size_effect() const override { return SizeEffect::kChanges; }

 private:
  const int64_t shorter_side_;
  const Filter filter_;
};

}  // namespace

at::Tensor Resize::ApplyDrawn(const at::Tensor& images, Staging* /*staging*/) const {
  return ResizeTo(images, size_, size_, filter_);
}

std::unique_ptr<Augmentation> MakeResizeShorterSide(int shorter_side, Filter filter) {
  return std::make_unique<ResizeShorterSide>(shorter_side, filter);
}

std::unique_ptr<Augmentation> Make(const ResizeSpec& spec, int input_size) {
  if (spec.shorter_side() > 0) return MakeResizeShorterSide(spec.shorter_side(), spec.filter());
  return MakeResize(input_size, spec.filter());
}

}  // namespace openset

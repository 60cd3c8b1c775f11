#include "data/augment/resize_crops.h"

namespace openset {
namespace {

// The filter at distances d >= 0.
at::Tensor FilterAt(const at::Tensor& d, ResizeSpec::Filter filter) {
  if (filter != ResizeSpec::BICUBIC) return (1 - d).clamp_min_(0);
  const at::Tensor near = (1.5 * d - 2.5) * d * d + 1;
  const at::Tensor far = ((-0.5 * d + 2.5) * d - 4) * d + 2;
  return at::where(d < 1, near, at::where(d < 2, far, 0.0));
}

// f32 [B, size, length]: the weights of the `length` pixels along one axis for each of `size` new ones. `begin` and
// `extent`, f32 [B, 1, 1], are the windows' first pixels and their lengths.
at::Tensor Weights(const at::Tensor& begin, const at::Tensor& extent, int64_t length, int64_t size,
                   ResizeSpec::Filter filter) {
  const at::Tensor step = extent / static_cast<double>(size);
  const at::Tensor centre = (at::arange(size, begin.options()) + 0.5).view({1, size, 1}) * step;
  const at::Tensor pixel = (at::arange(length, begin.options()) + 0.5).view({1, 1, length}) - begin;
  const at::Tensor weights = FilterAt((pixel - centre).abs_() / step.clamp_min(1), filter);
  const at::Tensor inside = ((pixel > 0) & (pixel < extent)).to(at::kFloat);
  const at::Tensor used = weights * inside;
  return used / used.sum(-1, /*keepdim=*/true);
}

// Whole values within [0, 255], halves up.
at::Tensor Rounded(const at::Tensor& values) { return values.add(0.5).floor_().clamp_(0, 255); }

}  // namespace

at::Tensor PackCropWindows(const std::vector<CropWindow>& windows) {
  std::vector<float> numbers;
  for (const CropWindow& window : windows) {
    for (const int64_t number : {window.top, window.height, window.left, window.width}) {
      numbers.push_back(static_cast<float>(number));
    }
  }
  return at::tensor(numbers).view({-1, 4});
}

CropWindow CropWindowAt(const at::Tensor& windows, int64_t i) {
  const float* const number = windows.const_data_ptr<float>() + 4 * i;
  const auto whole = [](float value) { return static_cast<int64_t>(value); };
  return {whole(number[0]), whole(number[2]), whole(number[1]), whole(number[3])};
}

at::Tensor ResizeCrops(const at::Tensor& images, const at::Tensor& windows, int size, ResizeSpec::Filter filter) {
  const int64_t batch = images.size(0);
  const auto number = windows.view({batch, 4, 1, 1}).unbind(1);
  const at::Tensor columns = Weights(number[0], number[1], images.size(2), size, filter);
  const at::Tensor rows = Weights(number[2], number[3], images.size(3), size, filter);

  const at::NoTF32Guard no_tf32;
  const at::Tensor planes = images.to(at::kFloat).view({batch, -1, images.size(3)});  // [B, C H, W]
  const at::Tensor wide = Rounded(at::bmm(planes, rows.transpose(1, 2)));             // [B, C H, size]
  // [B, H, C size], because the columns are the same for all channels.
  const at::Tensor across =
      wide.view({batch, images.size(1), images.size(2), size}).transpose(1, 2).reshape({batch, images.size(2), -1});
  return Rounded(at::bmm(columns, across))
      .to(at::kByte)
      .view({batch, size, images.size(1), size})
      .transpose(1, 2)
      .contiguous();
}

}  // namespace openset

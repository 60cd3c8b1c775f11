#include "data/augment/pixels/resample_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

namespace openset {
namespace {

constexpr size_t kMaxRemembered = 512;

std::shared_ptr<const ResampleWeights> Measure(int64_t in, int64_t out, ResizeSpec::Filter filter) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double support = std::max(1.0, scale) * (filter == ResizeSpec::BICUBIC ? 2 : 1);
  // The distance between ones, at least the number of places that a pixel sees. Image r has ones at r, r + apart, ...
  const int64_t apart = static_cast<int64_t>(std::ceil(2 * support)) + 4;
  const at::Tensor probes = at::zeros({apart, 1, 1, in}, at::kFloat);
  float* probe = probes.mutable_data_ptr<float>();
  for (int64_t place = 0; place < in; ++place) probe[place % apart * in + place] = 1;
  const at::Tensor weights = ResizeByLibTorch(probes, 1, out, filter).contiguous();
  for (int64_t place = 0; place < in; ++place) {
    probe[place % apart * in + place] = std::numeric_limits<float>::quiet_NaN();
  }
  const at::Tensor sights = ResizeByLibTorch(probes, 1, out, filter).contiguous();
  const float* weight = weights.const_data_ptr<float>();  // [apart, out]
  const float* sight = sights.const_data_ptr<float>();

  auto measured = std::make_shared<ResampleWeights>();
  *measured = {in, out, apart, std::vector<int64_t>(out), std::vector<int64_t>(out), std::vector<float>(out * apart)};
  for (int64_t i = 0; i < out; ++i) {
    const auto first = static_cast<int64_t>(std::floor((static_cast<double>(i) + 0.5) * scale - support - 1));
    for (int64_t place = std::max<int64_t>(0, first); place < std::min(in, first + apart); ++place) {
      const int64_t at = place % apart * out + i;
      if (!std::isnan(sight[at])) continue;
      int64_t& count = measured->count[i];
      if (count == 0) measured->begin[i] = place;
      measured->weight[i * apart + count++] = weight[at];
    }
  }
  return measured;
}

// Whether LibTorch's sums of bytes along rows and along columns equal ResampleSum()'s.
bool SumsAreLibTorchs(int64_t in, int64_t out, ResizeSpec::Filter filter) {
  constexpr int64_t kLines = 16;
  at::Tensor rows = at::empty({1, 1, kLines, in}, at::kFloat);
  float* byte = rows.mutable_data_ptr<float>();
  uint32_t state = 1;
  for (int64_t i = 0; i < rows.numel(); ++i) {
    state = state * 1664525 + 1013904223;
    byte[i] = static_cast<float>(state >> 24);
  }
  const at::Tensor along_rows = ResizeByLibTorch(rows, kLines, out, filter).contiguous();
  const at::Tensor along_columns =
      ResizeByLibTorch(rows.transpose(2, 3).contiguous(), out, kLines, filter).transpose(2, 3).contiguous();
  const std::shared_ptr<const ResampleWeights> weights = WeightsOfLibTorch(in, out, filter);
  for (int64_t line = 0; line < kLines; ++line) {
    for (int64_t i = 0; i < out; ++i) {
      const float sum =
          ResampleSum(byte + line * in + weights->begin[i], &weights->weight[i * weights->taps], weights->count[i]);
      if (along_rows.const_data_ptr<float>()[line * out + i] != sum) return false;
      if (along_columns.const_data_ptr<float>()[line * out + i] != sum) return false;
    }
  }
  return true;
}

}  // namespace

at::Tensor ResizeByLibTorch(const at::Tensor& images, int64_t height, int64_t width, ResizeSpec::Filter filter) {
  return filter == ResizeSpec::BICUBIC ? at::_upsample_bicubic2d_aa(images, {height, width}, /*align_corners=*/false)
                                       : at::_upsample_bilinear2d_aa(images, {height, width}, /*align_corners=*/false);
}

std::shared_ptr<const ResampleWeights> WeightsOfLibTorch(int64_t in, int64_t out, ResizeSpec::Filter filter) {
  static std::mutex& mutex = *new std::mutex;
  static auto& remembered =
      *new std::map<std::tuple<int64_t, int64_t, ResizeSpec::Filter>, std::shared_ptr<const ResampleWeights>>;
  const auto key = std::make_tuple(in, out, filter);
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = remembered.find(key);
    if (found != remembered.end()) return found->second;
  }
  std::shared_ptr<const ResampleWeights> weights = Measure(in, out, filter);
  const std::lock_guard<std::mutex> lock(mutex);
  if (remembered.size() >= kMaxRemembered) remembered.clear();
  remembered[key] = weights;
  return weights;
}

bool CanResampleAsLibTorch() {
  static const bool can = [] {
    if (!CanResample()) return false;
    for (const ResizeSpec::Filter filter : {ResizeSpec::BILINEAR, ResizeSpec::BICUBIC}) {
      // Sums of up to 2 to 4, 4 to 8, 6 to 12 and 26 to 51 pixels.
      for (const int64_t out : {183, 60, 40, 8}) {
        if (!SumsAreLibTorchs(105, out, filter)) return false;
      }
    }
    return true;
  }();
  return can;
}

}  // namespace openset

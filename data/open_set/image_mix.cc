#include "data/open_set/image_mix.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace openset {
namespace {

// Returns where a window begins and ends along one side.
std::pair<int64_t, int64_t> Window(int64_t side, double ratio, RandomStream* random) {
  const auto half = static_cast<int64_t>(static_cast<double>(side) * ratio) / 2;
  const auto centre = static_cast<int64_t>(random->Below(static_cast<uint64_t>(side)));
  return {std::max<int64_t>(centre - half, 0), std::min(centre + half, side)};
}

}  // namespace

MixedImages MixImages(const ImageMixSpec& spec, const at::Tensor& first, const at::Tensor& second,
                      RandomStream* random) {
  const double share = random->Beta(spec.alpha(), spec.has_beta() ? spec.beta() : spec.alpha());
  if (spec.kind() != ImageMixSpec::CUTMIX) {
    return {(share * first + (1 - share) * second).contiguous(at::MemoryFormat::ChannelsLast), share};
  }
  const double ratio = std::sqrt(1 - share);
  const int64_t height = first.size(2), width = first.size(3);
  const auto [top, bottom] = Window(height, ratio, random);
  const auto [left, right] = Window(width, ratio, random);
  const at::Tensor image = first.clone(at::MemoryFormat::ChannelsLast);
  image.slice(2, top, bottom).slice(3, left, right).copy_(second.slice(2, top, bottom).slice(3, left, right));
  return {image, 1 - static_cast<double>((bottom - top) * (right - left)) / static_cast<double>(height * width)};
}

}  // namespace openset

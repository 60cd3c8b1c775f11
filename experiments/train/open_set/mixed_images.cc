// Open-set source: mixtures of the batch's images with the same images in a random order, as MixedImagesSpec in
// open_set.proto says. slot is i, partner the label of the image that i is mixed with; all have the same share. The
// order is drawn before the share.
#include "experiments/train/open_set/mixed_images.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "experiments/train/open_set/open_set_members.h"

namespace openset {
namespace {

// Returns where a window begins and ends along one side.
std::pair<int64_t, int64_t> Window(int64_t side, double ratio, RandomStream* random) {
  const auto half = static_cast<int64_t>(static_cast<double>(side) * ratio) / 2;
  const auto centre = static_cast<int64_t>(random->Below(static_cast<uint64_t>(side)));
  return {std::max<int64_t>(centre - half, 0), std::min(centre + half, side)};
}

}  // namespace

ImageMixDraw DrawImageMix(const ImageMixSpec& spec, int64_t height, int64_t width, RandomStream* random) {
  ImageMixDraw draw = {random->Beta(spec.alpha(), spec.has_beta() ? spec.beta() : spec.alpha())};
  if (spec.kind() != ImageMixSpec::CUTMIX) return draw;
  const double ratio = std::sqrt(1 - draw.share);
  std::tie(draw.top, draw.bottom) = Window(height, ratio, random);
  std::tie(draw.left, draw.right) = Window(width, ratio, random);
  const int64_t pixels = (draw.bottom - draw.top) * (draw.right - draw.left);
  draw.share = 1 - static_cast<double>(pixels) / static_cast<double>(height * width);
  return draw;
}

std::vector<double> NumbersOf(const ImageMixDraw& draw) {
  const auto number = [](int64_t pixel) { return static_cast<double>(pixel); };
  return {draw.share, number(draw.top), number(draw.bottom), number(draw.left), number(draw.right)};
}

ImageMixDraw ImageMixDrawOf(const std::vector<double>& numbers) {
  const auto pixel = [&](size_t i) { return static_cast<int64_t>(numbers.at(i)); };
  return {numbers.at(0), pixel(1), pixel(2), pixel(3), pixel(4)};
}

at::Tensor MixImages(const ImageMixSpec& spec, const ImageMixDraw& draw, const at::Tensor& first,
                     const at::Tensor& second) {
  if (spec.kind() != ImageMixSpec::CUTMIX) {
    return (draw.share * first + (1 - draw.share) * second).contiguous(first.suggest_memory_format());
  }
  at::Tensor image = first.clone(first.suggest_memory_format());
  const auto window = [&](const at::Tensor& images) {
    return images.slice(2, draw.top, draw.bottom).slice(3, draw.left, draw.right);
  };
  window(image).copy_(window(second));
  return image;
}

namespace {

class MixedImagesSource : public OpenSetSource {
 public:
  explicit MixedImagesSource(const MixedImagesSpec& spec) : spec_(spec) {}

  absl::Status Draw(const DrawContext& context) override {
    context.staging->Add(at::tensor(context.random->Permutation(context.label.size(0)), at::kLong));
    *context.number = NumbersOf(DrawImageMix(spec_.mix(), context.height, context.width, context.random));
    return absl::OkStatus();
  }

  void Take(Staging* staging, Batch* batch) const override {
    OpenSetDraws& open = *batch->open;
    const at::Tensor order = staging->Next();
    open.tensor = {batch->label.index_select(0, order)};
    open.image = MixImages(spec_.mix(), ImageMixDrawOf(open.number), batch->image, batch->image.index_select(0, order));
  }

  bool ReplacesBatch() const override { return !spec_.beside_batch(); }

  OpenSet Make(const Context& context) override {
    const at::Tensor& partner = context.batch.open->tensor[0];
    const double share = ImageMixDrawOf(context.batch.open->number).share;
    const int64_t n = partner.size(0);
    const at::TensorOptions number = context.extra.logits.options().requires_grad(false);
    return {context.extra, at::arange(n, partner.options()), at::ones({n}, number), at::full({n}, share, number),
            partner};
  }

 private:
  const MixedImagesSpec spec_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OpenSetSource>> Make(const MixedImagesSpec& spec, const OpenSetSetting&) {
  return std::make_unique<MixedImagesSource>(spec);
}

}  // namespace openset

#include "data/open_set/mixed_images.h"

#include "absl/status/status.h"
#include "core/tensor/torch.h"
#include "data/open_set/image_mix.h"

namespace openset {
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

std::unique_ptr<OpenSetSource> MakeMixedImages(const MixedImagesSpec& spec) {
  return std::make_unique<MixedImagesSource>(spec);
}

}  // namespace openset

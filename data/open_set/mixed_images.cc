#include "data/open_set/mixed_images.h"

#include "absl/status/statusor.h"
#include "core/tensor/to_device.h"
#include "core/tensor/torch.h"
#include "data/open_set/image_mix.h"

namespace openset {
namespace {

class MixedImagesSource : public OpenSetSource {
 public:
  explicit MixedImagesSource(const MixedImagesSpec& spec) : spec_(spec) {}

  absl::StatusOr<at::Tensor> ExtraImages(const Batch& batch, RandomStream* random) override {
    const at::Tensor order =
        ToDevice(at::tensor(random->Permutation(batch.label.size(0)), at::kLong), batch.label.device());
    partner_ = batch.label.index_select(0, order);
    MixedImages mixed = MixImages(spec_.mix(), batch.image, batch.image.index_select(0, order), random);
    share_ = mixed.share;
    return std::move(mixed.image);
  }

  bool ReplacesBatch() const override { return !spec_.beside_batch(); }

  OpenSet Make(const Context& context) override {
    const int64_t n = partner_.size(0);
    const at::TensorOptions number = context.extra.logits.options().requires_grad(false);
    return {context.extra, at::arange(n, partner_.options()), at::ones({n}, number), at::full({n}, share_, number),
            partner_};
  }

 private:
  const MixedImagesSpec spec_;
  at::Tensor partner_;  // of the current step
  double share_ = 0;
};

}  // namespace

std::unique_ptr<OpenSetSource> MakeMixedImages(const MixedImagesSpec& spec) {
  return std::make_unique<MixedImagesSource>(spec);
}

}  // namespace openset

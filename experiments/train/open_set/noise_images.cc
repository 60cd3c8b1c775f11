// Open-set source: images of noise, as NoiseImagesSpec in open_set.proto says. Each step has floor(share * B) images of
// the batch's shape. Source: w4k2/torchosr, models/NoiseSoftmax.
#include <memory>

#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "experiments/train/open_set/extra_images.h"
#include "experiments/train/open_set/open_set_members.h"

namespace openset {
namespace {

class NoiseImageSource : public ExtraImageSource {
 public:
  explicit NoiseImageSource(const NoiseImagesSpec& spec) : spec_(spec) {}

  absl::Status Draw(const DrawContext& context) override {
    const int64_t count = CountOf(context.label);
    if (count == 0) return absl::OkStatus();
    at::Tensor noise = at::empty({count, context.channels, context.height, context.width}, at::kFloat);
    float* value = noise.mutable_data_ptr<float>();
    for (int64_t i = 0; i < noise.numel(); ++i) value[i] = static_cast<float>(context.random->Uniform());
    context.staging->Add(std::move(noise));
    return absl::OkStatus();
  }

  void Take(Staging* staging, Batch* batch) const override {
    if (CountOf(batch->label) == 0) return;
    const at::Tensor noise = staging->Next();
    const at::Tensor high = batch->image.max();
    at::Tensor image;
    if (spec_.range() == NoiseImagesSpec::MINIMUM_TO_MAXIMUM) {
      const at::Tensor low = batch->image.min();
      image = low + (high - low) * noise;
    } else {
      image = high * noise;
    }
    batch->open->image = image.contiguous(batch->image.suggest_memory_format());
  }

 private:
  int64_t CountOf(const at::Tensor& label) const {
    return static_cast<int64_t>(spec_.share() * static_cast<double>(label.size(0)));
  }

  const NoiseImagesSpec spec_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OpenSetSource>> Make(const NoiseImagesSpec& spec, const OpenSetSetting&) {
  return std::make_unique<NoiseImageSource>(spec);
}

}  // namespace openset

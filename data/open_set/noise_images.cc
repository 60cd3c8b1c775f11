#include "data/open_set/noise_images.h"

#include <utility>

#include "absl/status/status.h"
#include "core/tensor/torch.h"
#include "data/open_set/extra_images.h"

namespace openset {
namespace {

class NoiseImages : public ExtraImageSource {
 public:
  explicit NoiseImages(const NoiseImagesSpec& spec) : spec_(spec) {}

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

std::unique_ptr<OpenSetSource> MakeNoiseImages(const NoiseImagesSpec& spec) {
  return std::make_unique<NoiseImages>(spec);
}

}  // namespace openset

#include "data/open_set/noise_images.h"

#include "absl/status/statusor.h"
#include "core/tensor/to_device.h"
#include "core/tensor/torch.h"
#include "data/open_set/extra_images.h"

namespace openset {
namespace {

class NoiseImages : public ExtraImageSource {
 public:
  explicit NoiseImages(const NoiseImagesSpec& spec) : spec_(spec) {}

  absl::StatusOr<at::Tensor> ExtraImages(const Batch& batch, RandomStream* random) override {
    const auto count = static_cast<int64_t>(spec_.share() * batch.image.size(0));
    if (count == 0) return at::Tensor();
    at::Tensor noise = at::empty({count, batch.image.size(1), batch.image.size(2), batch.image.size(3)}, at::kFloat);
    float* value = noise.mutable_data_ptr<float>();
    for (int64_t i = 0; i < noise.numel(); ++i) value[i] = static_cast<float>(random->Uniform());
    noise = ToDevice(noise, batch.image.device());
    const at::Tensor high = batch.image.max();
    if (spec_.range() == NoiseImagesSpec::MINIMUM_TO_MAXIMUM) {
      const at::Tensor low = batch.image.min();
      noise = low + (high - low) * noise;
    } else {
      noise = high * noise;
    }
    return noise.contiguous(at::MemoryFormat::ChannelsLast);
  }

 private:
  const NoiseImagesSpec spec_;
};

}  // namespace

std::unique_ptr<OpenSetSource> MakeNoiseImages(const NoiseImagesSpec& spec) {
  return std::make_unique<NoiseImages>(spec);
}

}  // namespace openset

#include "models/heads/random_temperature_head.h"

#include <optional>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "models/initialise.h"
#include "models/layers/layers.h"

namespace openset {
namespace {

// A module that only names its parameters.
class Parts : public Module {};

class RandomTemperatureHead : public Head {
 public:
  RandomTemperatureHead(int64_t degrees, int64_t feature_dim, int64_t outputs)
      : degrees_(degrees),
        classifier_(register_module("classifier", std::make_shared<Linear>(feature_dim, outputs - 1))),
        parts_(register_module("logvar_rts", std::make_shared<Parts>())),
        linear_(parts_->register_module("0", std::make_shared<Linear>(feature_dim, degrees))),
        norm_(parts_->register_module("1", std::make_shared<BatchNorm>(degrees))) {}

  ModelOutput Forward(const at::Tensor& feature) override {
    at::Tensor logits = classifier_->Forward(feature);
    const at::Tensor variance = norm_->Forward(linear_->Forward(feature)).exp();
    at::Tensor last = variance;
    if (is_training()) {
      CHECK(generator_.has_value()) << "a random temperature without a generator: Model::SetGenerator() comes first";
      const at::Tensor noise = at::empty_like(variance.detach()).normal_(0, 1, generator_);
      const at::Tensor temperature = (variance * noise.square()).sum(1, /*keepdim=*/true) / (degrees_ - 2);
      logits = logits / temperature;
      last = (variance - (variance + 1e-8).log() - 1) / 2;
    }
    return {feature, at::cat({logits, last.mean(1, /*keepdim=*/true)}, 1), {}, {}};
  }

  void Initialise(RandomStream* random) override {
    DrawDefault(classifier_->weight, classifier_->bias, random);
    DrawDefault(linear_->weight, linear_->bias, random);
    ResetBatchNorm(1, 0, random, norm_.get());
  }

  void SetGenerator(const at::Generator& generator) override { generator_ = generator; }

 private:
  const int64_t degrees_;
  const std::shared_ptr<Linear> classifier_;
  const std::shared_ptr<Parts> parts_;
  const std::shared_ptr<Linear> linear_;
  const std::shared_ptr<BatchNorm> norm_;
  std::optional<at::Generator> generator_;
};

}  // namespace

std::shared_ptr<Head> MakeRandomTemperatureHead(const RandomTemperatureHeadSpec& spec, int64_t feature_dim,
                                                int64_t outputs) {
  return std::make_shared<RandomTemperatureHead>(spec.degrees(), feature_dim, outputs);
}

}  // namespace openset

// The head of random temperature scaling (RTS, Shang et al., AAAI 2023): the temperature of the logits is random. The
// head computes the variances that determine its distribution from the features; they measure the sample's uncertainty.
//
// With n = degrees, the logits h = classifier.weight x + classifier.bias of the known classes, and n variances
// v = exp(norm(W x + b)), norm a batch norm over the samples, the outputs are
//
//   in training mode    h / T, and last d = mean_k (v_k - log(v_k + 1e-8) - 1) / 2, T = sum_k v_k e_k^2 / (n - 2),
//   otherwise           h, and last mean_k v_k,
//
// where e is drawn from N(0, 1) by the generator. d is the Kullback-Leibler divergence of N(0, v) from N(0, 1); it is
// at least 0, except for the effect of the 1e-8. The loss is RandomTemperatureSpec (losses/loss.proto). Parameters:
// classifier.{weight,bias}, logvar_rts.0.{weight,bias} (W and b) and logvar_rts.1.{weight,bias,running_mean,...}, named
// as in OpenOOD's rts_net.py; the formulas are in its rts_trainer.py. Preconditions: outputs >= 2; in training mode, a
// generator is set.
#include <optional>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "models/heads/head_members.h"
#include "models/initialise.h"
#include "models/layers/layers.h"

namespace openset {
namespace {

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

std::shared_ptr<Head> Make(const RandomTemperatureHeadSpec& spec, int64_t feature_dim, int64_t outputs) {
  return std::make_shared<RandomTemperatureHead>(spec.degrees(), feature_dim, outputs);
}

}  // namespace openset

#include "models/networks/linear_head.h"

#include "models/initialise.h"

namespace openset {
namespace {

constexpr double kNormOffset = 1e-4;

class LinearHead : public Head {
 public:
  LinearHead(const LinearHeadSpec& spec, int64_t feature_dim, int64_t outputs)
      : normalise_logits_(spec.normalise_logits()),
        initialisation_(spec.initialisation()),
        weight_(register_parameter("weight", at::empty({outputs, feature_dim}))) {
    if (spec.bias()) bias_ = register_parameter("bias", at::empty({outputs}));
  }

  ModelOutput Forward(const at::Tensor& feature) override {
    at::Tensor logits = at::linear(feature, weight_, bias_);
    if (normalise_logits_) logits = logits / (logits.norm(2, 1, /*keepdim=*/true) + kNormOffset);
    return {feature, logits, {}, {}};
  }

  void Initialise(RandomStream* random) override {
    switch (initialisation_) {
      case LinearHeadSpec::STANDARD_NORMAL:
        DrawNormal(0, 1, random, weight_);
        if (bias_.defined()) DrawNormal(0, 1, random, bias_);
        return;
      case LinearHeadSpec::UNIFORM:
      case LinearHeadSpec::INITIALISATION_UNSPECIFIED:
        break;
    }
    DrawDefault(weight_, bias_, random);
  }

 private:
  const bool normalise_logits_;
  const LinearHeadSpec::Initialisation initialisation_;
  at::Tensor weight_;
  at::Tensor bias_;  // undefined without one
};

}  // namespace

std::shared_ptr<Head> MakeLinearHead(const LinearHeadSpec& spec, int64_t feature_dim, int64_t outputs) {
  return std::make_shared<LinearHead>(spec, feature_dim, outputs);
}

}  // namespace openset

// A linear head: logits = W x + b, or that divided by its length plus 1e-4. With a feature_temperature t, x is the
// backbone's features divided by t and, in training mode, also by their length (T2FNorm: Regmi et al. 2024; evaluation
// as in OpenOOD's t2fnorm_net.py for networks that are trained from scratch). The output's features are the backbone's
// in training mode, and x in evaluation mode, because scores compute the logits again from them.
//
// Makes a head that computes `outputs` logits from `feature_dim` features. Parameters: weight [outputs, feature_dim]
// and, unless the spec excludes it, bias [outputs], initialised as the spec says.
#include "models/heads/head_members.h"
#include "models/initialise.h"

namespace openset {
namespace {

constexpr double kNormOffset = 1e-4;
constexpr double kLeastLength = 1e-12;  // of features that are divided by it, as torch.nn.functional.normalize

class LinearHead : public Head {
 public:
  LinearHead(const LinearHeadSpec& spec, int64_t feature_dim, int64_t outputs)
      : normalise_logits_(spec.normalise_logits()),
        feature_temperature_(spec.feature_temperature()),
        stop_gradient_(spec.stop_gradient()),
        initialisation_(spec.initialisation()),
        weight_(register_parameter("weight", at::empty({outputs, feature_dim}))) {
    if (spec.bias()) bias_ = register_parameter("bias", at::empty({outputs}));
  }

  ModelOutput Forward(const at::Tensor& of_backbone) override {
    at::Tensor feature = of_backbone;
    if (feature_temperature_ > 0) {
      if (is_training()) feature = feature / feature.norm(2, 1, /*keepdim=*/true).clamp_min(kLeastLength);
      feature = feature / feature_temperature_;
    }
    at::Tensor logits = at::linear(stop_gradient_ ? feature.detach() : feature, weight_, bias_);
    if (normalise_logits_) logits = logits / (logits.norm(2, 1, /*keepdim=*/true) + kNormOffset);
    return {is_training() ? of_backbone : feature, logits, {}, {}};
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
  const double feature_temperature_;  // 0: features stay as they are
  const bool stop_gradient_;
  const LinearHeadSpec::Initialisation initialisation_;
  at::Tensor weight_;
  at::Tensor bias_;  // undefined without one
};

}  // namespace

std::shared_ptr<Head> Make(const LinearHeadSpec& spec, int64_t feature_dim, int64_t outputs) {
  return std::make_shared<LinearHead>(spec, feature_dim, outputs);
}

}  // namespace openset

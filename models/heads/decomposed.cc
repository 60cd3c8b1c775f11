// The head of generalised ODIN (Hsu et al., CVPR 2020): the logit of a class is h_c(x) / g(x), where the divisor models
// whether the sample is in distribution, regardless of its class.
//
// logits = h(x) / g(x) in training mode, and h(x) otherwise; the paper's score is the largest h_c(x).
// DecomposedHeadSpec defines h. g(x) = sigmoid(norm(divisor.weight . x + divisor.bias)), where norm is a batch norm
// over the samples. Parameters: h.weight [outputs, D] from N(0, 2 / D), for INNER h.bias [outputs] from 0,
// g.0.{weight,bias} and g.1.{weight,bias,running_mean,...}, named and drawn as in OpenOOD's godin_net.py. Unlike here,
// OpenOOD excludes h from weight decay.
#include <cmath>

#include "core/tensor/torch.h"
#include "models/heads/head_members.h"
#include "models/initialise.h"
#include "models/layers/layers.h"

namespace openset {
namespace {

constexpr double kLengthOffset = 1e-4;

at::Tensor UnitLength(const at::Tensor& rows) { return rows / (rows.norm(2, 1, /*keepdim=*/true) + kLengthOffset); }

class DecomposedHead : public Head {
 public:
  DecomposedHead(const DecomposedHeadSpec& spec, int64_t feature_dim, int64_t outputs)
      : similarity_(spec.similarity()),
        h_(register_module("h", std::make_shared<Parts>())),
        g_(register_module("g", std::make_shared<Parts>())),
        weight_(h_->register_parameter("weight", at::empty({outputs, feature_dim}))),
        divisor_(g_->register_module("0", std::make_shared<Linear>(feature_dim, 1))),
        norm_(g_->register_module("1", std::make_shared<BatchNorm>(1))) {
    if (similarity_ == DecomposedHeadSpec::INNER) bias_ = h_->register_parameter("bias", at::zeros({outputs}));
  }

  ModelOutput Forward(const at::Tensor& feature) override {
    at::Tensor logits = Similarity(feature);
    if (is_training()) logits = logits / norm_->Forward(divisor_->Forward(feature)).sigmoid();
    return {feature, logits, {}, {}};
  }

  void Initialise(RandomStream* random) override {
    DrawNormal(0, std::sqrt(2.0 / static_cast<double>(weight_.size(1))), random, weight_);
    DrawDefault(divisor_->weight, divisor_->bias, random);
    ResetBatchNorm(1, 0, random, norm_.get());
    const at::NoGradGuard no_grad;
    if (bias_.defined()) bias_.zero_();
  }

 private:
  at::Tensor Similarity(const at::Tensor& x) const {
    switch (similarity_) {
      case DecomposedHeadSpec::INNER:
        return at::linear(x, weight_, bias_);
      case DecomposedHeadSpec::EUCLIDEAN:
        return -(x.unsqueeze(1) - weight_.unsqueeze(0)).square().mean(2);
      case DecomposedHeadSpec::COSINE:
      case DecomposedHeadSpec::SIMILARITY_UNSPECIFIED:
        break;
    }
    return at::mm(UnitLength(x), UnitLength(weight_).t());
  }

  const DecomposedHeadSpec::Similarity similarity_;
  std::shared_ptr<Parts> h_, g_;
  at::Tensor weight_;
  at::Tensor bias_;  // undefined without one
  std::shared_ptr<Linear> divisor_;
  std::shared_ptr<BatchNorm> norm_;
};

}  // namespace

std::shared_ptr<Head> Make(const DecomposedHeadSpec& spec, int64_t feature_dim, int64_t outputs) {
  return std::make_shared<DecomposedHead>(spec, feature_dim, outputs);
}

}  // namespace openset

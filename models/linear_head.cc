#include "models/linear_head.h"

#include "models/initialise.h"

namespace openset {
namespace {

class LinearHead : public Head {
 public:
  LinearHead(const LinearHeadSpec& spec, int64_t feature_dim, int64_t outputs)
      : weight_(register_parameter("weight", at::empty({outputs, feature_dim}))) {
    if (spec.bias()) bias_ = register_parameter("bias", at::empty({outputs}));
  }

  ModelOutput Forward(const at::Tensor& feature) override {
    return {feature, at::linear(feature, weight_, bias_), {}, {}};
  }

  void Initialise(RandomStream* random) override { DrawDefault(weight_, bias_, random); }

 private:
  at::Tensor weight_;
  at::Tensor bias_;  // undefined without one
};

}  // namespace

std::shared_ptr<Head> MakeLinearHead(const LinearHeadSpec& spec, int64_t feature_dim, int64_t outputs) {
  return std::make_shared<LinearHead>(spec, feature_dim, outputs);
}

}  // namespace openset

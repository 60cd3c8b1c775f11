// A classifier by cosines: logits_c = scale * cos(x, W_c), as model/classifier.py of SURE (Li et al., CVPR 2024).
// Parameter: weight [outputs, D] from U(-1 / sqrt(D), 1 / sqrt(D)), as there. (There it is stored transposed, with a
// bias that no output depends on.)
#include "core/tensor/torch.h"
#include "models/heads/head_members.h"
#include "models/initialise.h"

namespace openset {
namespace {

constexpr double kShortest = 1e-12;

at::Tensor Directions(const at::Tensor& rows) { return rows / rows.norm(2, 1, /*keepdim=*/true).clamp_min(kShortest); }

class CosineHead : public Head {
 public:
  CosineHead(const CosineHeadSpec& spec, int64_t feature_dim, int64_t outputs)
      : scale_(spec.scale()), weight_(register_parameter("weight", at::empty({outputs, feature_dim}))) {}

  ModelOutput Forward(const at::Tensor& feature) override {
    return {feature, scale_ * at::mm(Directions(feature), Directions(weight_).t()), {}, {}};
  }

  void Initialise(RandomStream* random) override { DrawDefault(weight_, {}, random); }

 private:
  const double scale_;
  const at::Tensor weight_;
};

}  // namespace

std::shared_ptr<Head> Make(const CosineHeadSpec& spec, int64_t feature_dim, int64_t outputs) {
  return std::make_shared<CosineHead>(spec, feature_dim, outputs);
}

}  // namespace openset

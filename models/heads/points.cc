// Heads with a learnable point per class. D_c = |x - P_c|^2 / d, with d the features' dimensions: a mean square.
//
// Prototypes (GCPL, Yang et al. 2018): logits_c = -D_c.
//
// This head and the next have the parameter point [outputs, feature_dim], initialised from N(0, 0.1^2), and give
// ModelOutput.distance (D) and .point. Source: ARPL's loss/Dist.py.
//
// Reciprocal points: logits_c = D_c (RPL, Chen et al. 2020), or D_c - x . P_c (ARPL, Chen et al. 2021; the dot product
// is not divided by d).
#include "core/tensor/torch.h"
#include "models/heads/head_members.h"
#include "models/initialise.h"

namespace openset {
namespace {

constexpr double kInitialStd = 0.1;

class PointHead : public Head {
 public:
  PointHead(int64_t feature_dim, int64_t outputs, double distance_sign, bool dot_product)
      : distance_sign_(distance_sign),
        dot_product_(dot_product),
        point_(register_parameter("point", at::empty({outputs, feature_dim}))) {}

  ModelOutput Forward(const at::Tensor& feature) override {
    const at::Tensor dot = at::mm(feature, point_.t());
    // As the released code: |x|^2 - 2 x.P + |P|^2.
    const at::Tensor square = feature.square().sum(1, /*keepdim=*/true) - 2 * dot + point_.square().sum(1).unsqueeze(0);
    const at::Tensor distance = square / static_cast<double>(feature.size(1));
    at::Tensor logits = distance * distance_sign_;
    if (dot_product_) logits = logits - dot;
    return {feature, logits, distance, point_};
  }

  void Initialise(RandomStream* random) override { DrawNormal(0, kInitialStd, random, point_); }

 private:
  const double distance_sign_;
  const bool dot_product_;
  at::Tensor point_;
};

}  // namespace

std::shared_ptr<Head> Make(const PrototypeHeadSpec&, int64_t feature_dim, int64_t outputs) {
  return std::make_shared<PointHead>(feature_dim, outputs, -1, false);
}

std::shared_ptr<Head> Make(const ReciprocalPointHeadSpec& spec, int64_t feature_dim, int64_t outputs) {
  return std::make_shared<PointHead>(feature_dim, outputs, 1, spec.dot_product());
}

}  // namespace openset

// Entropic open-set and objectosphere loss (Dhamija et al., NeurIPS 2018).
//
//   (sum_i [-log p_iy + f max(0, l - |x_i|)^2] + sum_j weight_j [-mean_c log p_jc + f |x_j|^2]) / (B + sum_j weight_j),
//
// i the known samples with label y, j the open ones, p = softmax(z) over all outputs, x the features, f the
// feature_weight (0: entropic open-set), l the known_length. At least 0. Needs LossInput.open. As in pytorch-ood 0.4.0
// (ObjectosphereLoss with its mean over the batch).
#include <memory>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class Objectosphere : public LossTerm {
 public:
  explicit Objectosphere(const ObjectosphereSpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.open != nullptr) << "the objectosphere loss needs an open-set source";
    const ModelOutput& outside = input.open->output;
    at::Tensor known = MinusAtLabel(at::log_softmax(input.known.logits, 1), input.batch.label);
    at::Tensor open = -at::log_softmax(outside.logits, 1).mean(1);
    if (spec_.feature_weight() > 0) {
      const at::Tensor missing = (spec_.known_length() - input.known.feature.norm(2, 1)).clamp_min(0);
      known = known + spec_.feature_weight() * missing.square();
      open = open + spec_.feature_weight() * outside.feature.square().sum(1);
    }
    return WeightedMean(at::cat({known, open}),
                        at::cat({at::ones_like(known), input.open->weight.to(known.scalar_type())}));
  }

 private:
  const ObjectosphereSpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const ObjectosphereSpec& spec, const LossSetting&) {
  return std::make_unique<Objectosphere>(spec);
}

}  // namespace openset

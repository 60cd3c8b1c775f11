// Outlier Exposure (Hendrycks, Mazeika and Dietterich, ICLR 2019): makes the probabilities of open samples uniform.
//
//   mean_j weight_j * (logsumexp_c z_jc - mean_c z_jc),
//
// where z [U, K] are the logits of the open samples: the cross entropy between the uniform distribution and their
// softmax. At least log K, which is reached for equal logits; 0 if no open sample counts. Needs LossInput.open. All
// outputs count as classes.
#include <memory>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

class OutlierExposure : public LossTerm {
 public:
  at::Tensor Compute(const LossInput& input) override {
    CHECK(input.open != nullptr) << "outlier exposure needs an open-set source";
    // logsumexp(z) - mean(z) = -mean(log_softmax(z)), without the cancellation.
    const at::Tensor log_p = at::log_softmax(input.open->output.logits, 1);
    return WeightedMean(-log_p.mean(1), input.open->weight);
  }
};

}  // namespace

std::unique_ptr<LossTerm> Make(const OutlierExposureSpec&, const LossSetting&) {
  return std::make_unique<OutlierExposure>();
}

}  // namespace openset

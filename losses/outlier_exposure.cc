#include "losses/outlier_exposure.h"

#include "core/logging.h"
#include "core/tensor/torch.h"
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

std::unique_ptr<LossTerm> MakeOutlierExposure() { return std::make_unique<OutlierExposure>(); }

}  // namespace openset

// II loss (Hassen and Chan, SDM 2020): pulls features towards the mean of their class, and pushes the means apart.
//
//   mean_b |x - m_y|^2 - min(100, min_{a != b} |m_a - m_b|^2),
//
// where x [B, D] are the features, m_a is the mean of the features of class a in the batch, and a and b run over the
// classes in the batch; for a batch of one class, the minimum is replaced by 0. At least -100. The paper has no such
// bound, but without it features of unbounded length grow until they overflow. All labels are below K, the number of
// outputs.
//
// pytorch-ood 0.4.0 measures against running means of the classes instead, and the authors' code (shrtCKT/opennet)
// against the batch's, with a mean over dimensions in the first term and a sum in the second. Its score is
// `nearest_mean`.
#include <cstdint>
#include <memory>

#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

constexpr double kFarEnough = 100;  // the largest squared distance of two means that counts

class IntraInter : public LossTerm {
 public:
  at::Tensor Compute(const LossInput& input) override {
    const at::Tensor& x = input.known.feature;
    const int64_t classes = input.known.logits.size(1);
    const at::Tensor every = at::arange(classes, input.batch.label.options());
    const at::Tensor member = input.batch.label.unsqueeze(1).eq(every).to(x.scalar_type());  // [B, K]
    const at::Tensor count = member.sum(0);
    const at::Tensor mean = at::mm(member.t(), x) / count.clamp_min(1).unsqueeze(1);  // [K, D]
    const at::Tensor intra = (x - RowsAt(mean, input.batch.label)).square().sum(1).mean();
    const at::Tensor between = (mean.unsqueeze(1) - mean.unsqueeze(0)).square().sum(2);  // [K, K]
    const at::Tensor present = count.gt(0);
    const at::Tensor pair = at::logical_and(present.unsqueeze(1), present.unsqueeze(0))
                                .logical_and(at::eye(classes, count.options()).eq(0));
    // amin() of one dimension, because the gradient of min() makes the host wait.
    const at::Tensor least =
        at::where(pair, between, between.detach().max() + 1).flatten().amin(0).clamp_max(kFarEnough);
    return intra - at::where(pair.any(), least, at::zeros_like(least));
  }
};

}  // namespace

std::unique_ptr<LossTerm> Make(const IntraInterSpec&, const LossSetting&) { return std::make_unique<IntraInter>(); }

}  // namespace openset
